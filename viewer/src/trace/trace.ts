// A whole run: its lines, and the state after any of them. Lines are kept as bytes and parsed again when they are
// needed; states are kept at some lines and made from there.
import { type Fate, FLIGHTS_MAX, type Watch, apply } from "../model/apply";
import { type Flight, LinkTable, State, isBack } from "../model/state";
import { counts, kinds, times } from "./columns";
import { LineStore } from "./line-store";
import { type Fault, type Header, type Line, type Point, Unreadable, isHeader, parseHeader, parseJson, parseLine } from "./record";
import type { RawLine } from "./split";

const KINDS: readonly Line["kind"][] = ["step", "link", "member", "lost", "move", "fault", "doubt", "route", "now", "end"];
const CODE = new Map(KINDS.map((kind, code) => [kind, code]));
/** Nobody wants to step through every change of a direction or of a routing table. */
const QUIET = new Set<Line["kind"]>(["move", "route", "now"]);
/** Problems that are kept; the others are only counted. */
const PROBLEMS_MAX = 50;
const KEYFRAMES_MAX = 256;
/** Copies that are made on the way to a state, so that the next step back is short. */
const STOPOVERS_MAX = 24;
/** Messages whose fate is remembered. */
const FATES_MAX = 20_000_000;
const FATE_CODES: readonly Fate[] = ["arrived", "refused", "returned", "lost"];

export interface Problem {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly reason: string;
}

export class Trace {
  readonly header: Header;
  readonly table = new LinkTable();
  readonly t = times();
  /** Who or, for a link, the first end; -1 for nobody. */
  readonly who = counts();
  readonly waiting = counts();
  readonly inUse = counts();
  readonly inFlight = counts();
  /** Lines at which somebody was granted. */
  readonly grants = counts();
  /** Tokens that have arrived: when, and between whom. */
  readonly hops = { end: times(), from: counts(), to: counts() };
  readonly problems: Problem[] = [];
  problemCount = 0;
  /** Lines of the file so far, the header among them. */
  lineCount = 1;
  end: Extract<Line, { kind: "end" }> | null = null;
  /** Up to when nothing else has happened. */
  now = 0;
  checked: number | null = null;
  hasPlaces = false;
  /** By node: where it is first said to be. It was there before that was said, too. */
  readonly firstPlaces: (Point | undefined)[] = [];
  /** Corners of everything that was ever said of places. */
  readonly bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };

  readonly #kind = kinds();
  readonly #text = new LineStore();
  readonly #arrivals = times();
  readonly #fates = kinds();
  /** By the line that tells of its end: the fault. */
  readonly #over = new Map<number, Fault>();
  /** Lines that tell that a member is inside which was so before, and was killed. */
  readonly #back = new Set<number>();
  readonly #head: State;
  #keyframes: State[];
  #spacing = 256;
  #stopovers: State[] = [];
  #decoder = new TextDecoder();

  constructor(header: Header) {
    this.header = header;
    this.#head = State.first(header, this.table);
    this.#keyframes = [this.#head.copy()];
  }

  /** How many lines there are to go to. */
  get length(): number {
    return this.t.length;
  }

  /** When the last line happened, or until when it is known that nothing did. */
  get last(): number {
    return Math.max(this.now, this.length > 0 ? this.t.at(this.length - 1) : 0);
  }

  /** The text of a line, once more. */
  line(index: number): Line {
    return parseLine(parseJson(this.#decoder.decode(this.#text.at(index))), this.header.nodes);
  }

  /** The fault of whose end a line tells. */
  overAt(index: number): Fault | null {
    return this.#over.get(index) ?? null;
  }

  /** Whether a line tells of a member that was killed, and is back where it was. */
  isBackAt(index: number): boolean {
    return this.#back.has(index);
  }

  kind(index: number): Line["kind"] {
    return KINDS[this.#kind.at(index)];
  }

  isQuiet(index: number): boolean {
    return QUIET.has(this.kind(index));
  }

  /** When a message ended, and how; null while it is under way. */
  fateOf(flight: Flight): { readonly t: number; readonly fate: Fate } | null {
    if (flight.id < 0 || flight.id >= this.#arrivals.length) return null;
    const t = this.#arrivals.at(flight.id);
    return t < 0 ? null : { t, fate: FATE_CODES[this.#fates.at(flight.id)] };
  }

  complain(reason: string, line = this.lineCount): void {
    this.problemCount++;
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ line, reason });
  }

  /** Takes one more line of the file. A line that is no record is noted, and passed over. */
  append(raw: RawLine): void {
    this.lineCount++;
    if (raw.tooLong) return this.complain("it is longer than 16 MB, and was passed over");
    try {
      const fields = parseJson(this.#decoder.decode(raw.bytes));
      if (isHeader(fields)) throw new Unreadable("a second header; a file holds one trace");
      this.#take(parseLine(fields, this.header.nodes), raw.bytes);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.complain(error.message);
    }
  }

  #take(line: Line, bytes: Uint8Array): void {
    if (line.kind === "now") {
      this.now = Math.max(this.now, line.t);
      this.checked = line.checked ?? this.checked;
      return;
    }
    if (this.end) throw new Unreadable("it comes after the end of the trace");
    // That a node has turned may be told late: where it is now follows all the same.
    if (line.kind !== "move" && line.t !== null && line.t < this.#head.t) this.complain("its time is before that of the line before; it is shown at the same time");
    if (line.kind === "end") this.end = line;
    if (line.kind === "move") {
      this.#stretch(line.at);
      if (!this.firstPlaces[line.node]) this.#placeAtStart(line.node, line.at, line.absent);
    }
    const index = this.length;
    const over = line.kind === "fault" && !line.is ? this.#head.faults.get(line.id) : undefined;
    if (over) this.#over.set(index, over);
    if (line.kind === "member" && isBack(this.#head, line)) this.#back.add(index);
    apply(this.#head, line, this.table, this.#watch(index));
    this.#head.index = index;
    this.t.push(this.#head.t);
    this.#kind.push(CODE.get(line.kind)!);
    this.who.push("node" in line ? line.node : "ends" in line ? line.ends[0] : -1);
    this.waiting.push(this.#head.waiting);
    this.inUse.push(this.#head.inUse);
    this.inFlight.push(this.#head.flightCount);
    this.#text.push(bytes);
    if ((index + 1) % this.#spacing === 0) this.#addKeyframe();
    if (this.#head.flightCount >= FLIGHTS_MAX && !this.#crowded) {
      this.#crowded = true;
      this.complain(`more than ${FLIGHTS_MAX.toLocaleString("en-GB")} messages are under way; from here on not all are followed`);
    }
  }

  /** What is first said of a place was so before, too. */
  #placeAtStart(node: number, at: Point, absent: boolean): void {
    this.firstPlaces[node] = at;
    const start = this.#keyframes[0];
    start.nodes[node] = { ...start.nodes[node], absent };
  }

  #crowded = false;

  #watch(index: number): Watch {
    this.#at = index;
    return this.#recorder;
  }

  #at = 0;
  readonly #recorder: Watch = {
    sent: (flight) => {
      if (flight.id !== this.#arrivals.length || flight.id >= FATES_MAX) return;
      this.#arrivals.push(-1);
      this.#fates.push(0);
    },
    ended: (flight, fate) => {
      if (fate === "arrived" && flight.content.carriesUnits) this.#hop(flight);
      if (flight.id < 0 || flight.id >= this.#arrivals.length) return;
      this.#arrivals.set(flight.id, this.#head.t);
      this.#fates.set(flight.id, FATE_CODES.indexOf(fate));
    },
    granted: () => this.grants.push(this.#at),
  };

  #hop({ from, to }: Flight): void {
    this.hops.end.push(this.#head.t);
    this.hops.from.push(from);
    this.hops.to.push(to);
  }

  #stretch([x, y]: readonly [number, number]): void {
    this.hasPlaces = true;
    const { bounds } = this;
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.bottom = Math.max(bounds.bottom, y);
  }

  #addKeyframe(): void {
    this.#keyframes.push(this.#head.copy());
    if (this.#keyframes.length <= KEYFRAMES_MAX) return;
    this.#keyframes = this.#keyframes.filter((_, at) => at % 2 === 0);
    this.#spacing *= 2;
  }

  /** The state after a line; -1 is the start. It belongs to the trace: look, do not touch. */
  stateAt(index: number): State {
    const wanted = Math.max(-1, Math.min(index, this.length - 1));
    if (wanted === this.#head.index) return this.#head;
    const base = this.#nearest(wanted);
    if (base.index === wanted) return base;
    const state = base.copy();
    const pause = Math.max(32, Math.ceil((wanted - base.index) / 8));
    while (state.index < wanted) {
      apply(state, this.line(state.index + 1), this.table);
      state.index++;
      if (state.index < wanted && (wanted - state.index) % pause === 0) this.#stopOver(state.copy());
    }
    this.#stopOver(state);
    return state;
  }

  #nearest(wanted: number): State {
    let best = this.#keyframes[Math.min(Math.floor((wanted + 1) / this.#spacing), this.#keyframes.length - 1)];
    for (const stopover of this.#stopovers) {
      if (stopover.index <= wanted && stopover.index > best.index) best = stopover;
    }
    return best;
  }

  #stopOver(state: State): void {
    this.#stopovers.push(state);
    if (this.#stopovers.length > STOPOVERS_MAX) this.#stopovers.shift();
  }

  /** The last line that has happened by then. */
  indexAt(now: number): number {
    return this.t.countUpTo(now) - 1;
  }

  /** The next line in a direction at which one would stop; -1 before all of them, and the last one after. */
  stop(from: number, direction: 1 | -1): number {
    let index = from + direction;
    while (index >= 0 && index < this.length && this.isQuiet(index)) index += direction;
    return Math.max(-1, Math.min(index, this.length - 1));
  }
}

/** The header, from the first line of a file. */
export function headerOf(raw: RawLine): Header {
  if (raw.tooLong) throw new Unreadable("the first line is longer than 16 MB: this is no trace");
  return parseHeader(parseJson(new TextDecoder().decode(raw.bytes)));
}
