// What becomes of one resource in the course of a run: its state after any line. States are kept at some lines and made
// from there.
import { type Fate, FLIGHTS_MAX, type Watch, apply } from "../model/apply";
import { type Flight, type LinkTable, State, isBack } from "../model/state";
import { counts, kinds, times } from "./columns";
import type { Fault, Header, Line } from "./record";
import type { Roster } from "./roster";

const KEYFRAMES_MAX = 256;
/** Copies that are made on the way to a state, so that the next step back is short. */
const STOPOVERS_MAX = 24;
/** Messages whose fate is remembered. */
const FATES_MAX = 20_000_000;
const FATE_CODES: readonly Fate[] = ["arrived", "refused", "returned", "lost"];

export class Course {
  readonly table: LinkTable;
  readonly waiting = counts();
  readonly inUse = counts();
  readonly inFlight = counts();
  /** Lines at which units were granted. */
  readonly grants = counts();
  /** Tokens that have arrived: when, and between whom. */
  readonly hops = { end: times(), from: counts(), to: counts() };
  readonly #arrivals = times();
  readonly #fates = kinds();
  /** By the line that tells of its end: the fault. */
  readonly #over = new Map<number, Fault>();
  /** Lines that tell that a member is inside which was so before, and was killed. */
  readonly #back = new Set<number>();
  readonly #head: State;
  readonly #line: (index: number) => Line;
  readonly #complain: (reason: string) => void;
  #keyframes: State[];
  #spacing = 256;
  #stopovers: State[] = [];
  #crowded = false;
  #at = 0;

  /** From the start on. Lines that have been read are asked for again. */
  constructor(header: Header, resource: number, roster: Roster, table: LinkTable, line: (index: number) => Line, complain: (reason: string) => void) {
    this.table = table;
    this.#line = line;
    this.#complain = complain;
    this.#head = State.first(header, resource, roster, table);
    this.#keyframes = [this.#head.copy()];
  }

  /** How many lines it has followed. */
  get length(): number {
    return this.waiting.length;
  }

  /** The fault of whose end a line tells. */
  overAt(index: number): Fault | null {
    return this.#over.get(index) ?? null;
  }

  /** Whether a line tells of a member that was killed, and is back where it was. */
  isBackAt(index: number): boolean {
    return this.#back.has(index);
  }

  /** When a message ended, and how; null while it is under way. */
  fateOf(flight: Flight): { readonly t: number; readonly fate: Fate } | null {
    if (flight.id < 0 || flight.id >= this.#arrivals.length) return null;
    const t = this.#arrivals.at(flight.id);
    return t < 0 ? null : { t, fate: FATE_CODES[this.#fates.at(flight.id)] };
  }

  /** What is first said of a place was so before, too. */
  absentAtStart(node: number, absent: boolean): void {
    const { nodes } = this.#keyframes[0];
    if (node < nodes.length) nodes[node] = { ...nodes[node], absent };
  }

  /** One line further. */
  follow(line: Line): void {
    const index = this.length;
    const head = this.#head;
    const over = line.kind === "fault" && !line.is ? head.faults.get(line.id) : undefined;
    if (over) this.#over.set(index, over);
    if (line.kind === "member" && line.resource === head.number && isBack(head, line)) this.#back.add(index);
    this.#at = index;
    apply(head, line, this.table, this.#watch);
    head.index = index;
    this.waiting.push(head.waiting);
    this.inUse.push(head.inUse);
    this.inFlight.push(head.flightCount);
    if ((index + 1) % this.#spacing === 0) this.#addKeyframe();
    if (head.flightCount >= FLIGHTS_MAX && !this.#crowded) {
      this.#crowded = true;
      this.#complain(`more than ${FLIGHTS_MAX.toLocaleString("en-GB")} messages are under way; from here on not all are followed`);
    }
  }

  readonly #watch: Watch = {
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

  #addKeyframe(): void {
    this.#keyframes.push(this.#head.copy());
    if (this.#keyframes.length <= KEYFRAMES_MAX) return;
    this.#keyframes = this.#keyframes.filter((_, at) => at % 2 === 0);
    this.#spacing *= 2;
  }

  /** The state after a line; -1 is the start. It belongs to the course: look, do not touch. */
  stateAt(index: number): State {
    const wanted = Math.max(-1, Math.min(index, this.length - 1));
    if (wanted === this.#head.index) return this.#head;
    const base = this.#nearest(wanted);
    if (base.index === wanted) return base;
    const state = base.copy();
    const pause = Math.max(32, Math.ceil((wanted - base.index) / 8));
    while (state.index < wanted) {
      apply(state, this.#line(state.index + 1), this.table);
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
}
