// A whole run: its lines, and the course of each resource that was looked at. Lines are kept as bytes and parsed again
// when they are needed.
import type { Fate } from "../model/apply";
import { type Flight, LinkTable, type State } from "../model/state";
import { type Column, counts, kinds, times } from "./columns";
import { Course } from "./course";
import { LineStore } from "./line-store";
import { type Fault, type Header, type Line, NODES_MAX, type Point, type Resource, Unreadable, isHeader, parseHeader, parseJson, parseLine } from "./record";
import { Roster } from "./roster";
import type { RawLine } from "./split";

const KINDS: readonly Line["kind"][] = ["step", "link", "join", "member", "lost", "move", "fault", "doubt", "route", "now", "end"];
const CODE = new Map(KINDS.map((kind, code) => [kind, code]));
/** Nobody wants to step through every change of a direction or of a routing table. */
const QUIET = new Set<Line["kind"]>(["move", "route", "now"]);
/** Problems that are kept; the others are only counted. */
const PROBLEMS_MAX = 50;

export interface Problem {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly reason: string;
}

export class Trace {
  readonly header: Header;
  readonly roster: Roster;
  readonly table = new LinkTable();
  readonly t = times();
  /** Who or, for a link, the first end; -1 for nobody. */
  readonly who = counts();
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
  /** Which resource a line is about; -1 for all of them. */
  readonly #about = counts();
  readonly #text = new LineStore();
  readonly #absentAtStart = new Map<number, boolean>();
  readonly #courses: (Course | undefined)[] = [];
  #shown = 0;
  #decoder = new TextDecoder();

  constructor(header: Header) {
    this.header = header;
    this.roster = new Roster(header.nodes);
    this.#courses[0] = this.#begin(0);
  }

  #begin(resource: number): Course {
    return new Course(this.header, resource, this.roster, this.table, (index) => this.line(index), (reason) => this.complain(reason));
  }

  /** The number of the resource that is looked at. */
  get shown(): number {
    return this.#shown;
  }

  /** The resource that is looked at. */
  get resource(): Resource {
    return this.header.resources[this.#shown];
  }

  /** From now on another resource is looked at: if for the first time, its course is followed up to here. */
  show(resource: number): void {
    if (!(resource in this.header.resources)) return;
    this.#shown = resource;
    if (this.#courses[resource]) return;
    const course = this.#begin(resource);
    this.#absentAtStart.forEach((absent, node) => course.absentAtStart(node, absent));
    for (let index = 0; index < this.length; index++) course.follow(this.line(index));
    this.#courses[resource] = course;
  }

  get course(): Course {
    return this.#courses[this.#shown]!;
  }

  get waiting(): Column<Int32Array> {
    return this.course.waiting;
  }

  get inUse(): Column<Int32Array> {
    return this.course.inUse;
  }

  get inFlight(): Column<Int32Array> {
    return this.course.inFlight;
  }

  get grants(): Column<Int32Array> {
    return this.course.grants;
  }

  get hops(): Course["hops"] {
    return this.course.hops;
  }

  /** The state after a line; -1 is the start. It belongs to the trace: look, do not touch. */
  stateAt(index: number): State {
    return this.course.stateAt(index);
  }

  /** The fault of whose end a line tells. */
  overAt(index: number): Fault | null {
    return this.course.overAt(index);
  }

  /** Whether a line tells of a member that was killed, and is back where it was. */
  isBackAt(index: number): boolean {
    return this.course.isBackAt(index);
  }

  /** When a message ended, and how; null while it is under way. */
  fateOf(flight: Flight): { readonly t: number; readonly fate: Fate } | null {
    return this.course.fateOf(flight);
  }

  /** How many lines there are to go to. */
  get length(): number {
    return this.t.length;
  }

  /** When the last line happened, or until when it is known that nothing did. */
  get last(): number {
    return Math.max(this.now, this.#latest);
  }

  get #latest(): number {
    return this.length > 0 ? this.t.at(this.length - 1) : 0;
  }

  /** The text of a line, once more. */
  line(index: number): Line {
    return parseLine(parseJson(this.#decoder.decode(this.#text.at(index))), this.roster);
  }

  kind(index: number): Line["kind"] {
    return KINDS[this.#kind.at(index)];
  }

  /** Whether nobody would stop at a line: for what it says, or as it is about a resource that is not looked at. */
  isQuiet(index: number): boolean {
    const about = this.#about.at(index);
    return QUIET.has(this.kind(index)) || (about >= 0 && about !== this.#shown);
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
      this.#take(parseLine(fields, this.roster), raw.bytes);
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
    this.#checkGroups(line);
    if (line.kind === "join") this.#join(line);
    // That a node has turned may be told late: where it is now follows all the same.
    if (line.kind !== "move" && line.t !== null && line.t < this.#latest) this.complain("its time is before that of the line before; it is shown at the same time");
    if (line.kind === "end") this.end = line;
    if (line.kind === "move") {
      this.#stretch(line.at);
      if (!this.firstPlaces[line.node]) this.#placeAtStart(line.node, line.at, line.absent);
    }
    for (const course of this.#courses) course?.follow(line);
    this.t.push(Math.max(this.#latest, line.t ?? 0));
    this.#kind.push(CODE.get(line.kind)!);
    this.#about.push("resource" in line ? line.resource : -1);
    this.who.push("node" in line ? line.node : "ends" in line ? line.ends[0] : -1);
    this.#text.push(bytes);
  }

  #join({ node, id }: Extract<Line, { kind: "join" }>): void {
    if (node < this.roster.size) throw new Unreadable(`node ${id} joins, but it is there already`);
    if (node >= NODES_MAX) throw new Unreadable(`there are more than ${NODES_MAX.toLocaleString("en-GB")} nodes; this page shows no more`);
    this.roster.add(id);
  }

  /** That what a line is about is in the header. */
  #checkGroups(line: Line): void {
    const { resources } = this.header;
    const about = "resource" in line ? line.resource : line.kind === "end" ? line.about : 0;
    if (about >= resources.length) throw new Unreadable(`it is about resource ${about}, and the header names only ${resources.length}, counted from 0`);
    if (line.kind !== "member") return;
    const { length } = resources[about].neighbourhoods;
    if (line.neighbourhood >= Math.max(1, length)) throw new Unreadable(`it is about neighbourhood ${line.neighbourhood}, and the header names only ${length}, counted from 0`);
  }

  #placeAtStart(node: number, at: Point, absent: boolean): void {
    this.firstPlaces[node] = at;
    this.#absentAtStart.set(node, absent);
    for (const course of this.#courses) course?.absentAtStart(node, absent);
  }

  #stretch([x, y]: readonly [number, number]): void {
    this.hasPlaces = true;
    const { bounds } = this;
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.bottom = Math.max(bounds.bottom, y);
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
