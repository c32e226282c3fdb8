// A message sequence chart of a stretch of a run, for some of its nodes.
import { type Json, type Line, type Step, isFields, variant } from "../trace/record";
import type { Trace } from "../trace/trace";
import { type Fate, apply } from "./apply";
import type { Flight, NodeState } from "./state";
import { presenceWords, wordsFor } from "./words";

/** Rows of a chart. */
export const ROWS_MAX = 90;
/** Lifelines of a chart that nobody chose nodes for. */
export const LIFELINES_MAX = 12;
/** Lines that are looked through for rows. */
const LOOK_MAX = 20_000;

export interface Row {
  /** The line of the trace. */
  readonly index: number;
  readonly t: number;
  /** Who, and what it is called if it is not the arrival of a message. */
  readonly node: number;
  readonly text: string | null;
  readonly link: readonly [number, number] | null;
}

export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly isToken: boolean;
  /** Rows; null is before the first or after the last one. */
  readonly sent: number | null;
  ended: number | null;
  fate: Fate | null;
}

/** Left: an application of an earlier life of the node may be in the critical section. */
export type BarKind = "waiting" | "critical" | "left" | "holding";

export interface Bar {
  readonly node: number;
  readonly kind: BarKind;
  readonly from: number;
  to: number;
}

export interface Chart {
  readonly lifelines: readonly number[];
  readonly rows: readonly Row[];
  readonly arrows: readonly Arrow[];
  readonly bars: readonly Bar[];
  /** If the run ends right after the last row: what was violated. */
  readonly violation: string | null;
}

/** The nodes that take part in what happens around a line, if nobody chose any. */
export function nodesAround(trace: Trace, index: number): readonly number[] {
  if (trace.roster.size <= LIFELINES_MAX) return Array.from({ length: trace.roster.size }, (_, place) => place);
  const found = new Set<number>();
  for (let away = 0; away < 400 && found.size < LIFELINES_MAX; away++) {
    for (const at of [index + away, index - away]) {
      if (at < 0 || at >= trace.length || trace.isQuiet(at) || trace.who.at(at) < 0 || found.size >= LIFELINES_MAX) continue;
      found.add(trace.who.at(at));
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** The lines of these nodes around a line, or those of a stretch of time. */
export function linesOf(trace: Trace, nodes: ReadonlySet<number>, index: number, brush: readonly [number, number] | null): readonly number[] {
  const wanted = (at: number) => !trace.isQuiet(at) && nodes.has(trace.who.at(at));
  const lines: number[] = [];
  if (brush) {
    const from = trace.indexAt(brush[0] - 1) + 1;
    for (let at = from; at < trace.length && trace.t.at(at) <= brush[1] && lines.length < ROWS_MAX && at - from < LOOK_MAX; at++) if (wanted(at)) lines.push(at);
    return lines;
  }
  for (let at = index; at >= 0 && index - at < LOOK_MAX && lines.length < ROWS_MAX / 3; at--) if (wanted(at)) lines.unshift(at);
  for (let at = index + 1; at < trace.length && at - index < LOOK_MAX && lines.length < (ROWS_MAX * 2) / 3; at++) if (wanted(at)) lines.push(at);
  return lines;
}

export function chartOf(trace: Trace, nodes: readonly number[], lines: readonly number[]): Chart {
  const drawing = new Drawing(trace, nodes);
  if (lines.length > 0) drawing.read(lines);
  return drawing.chart();
}

class Drawing {
  readonly #trace: Trace;
  readonly #nodes: readonly number[];
  readonly #inside: ReadonlySet<number>;
  readonly #rows: Row[] = [];
  readonly #arrows: Arrow[] = [];
  readonly #byFlight = new Map<number, Arrow>();
  readonly #bars: Bar[] = [];
  readonly #open = new Map<string, Bar>();

  constructor(trace: Trace, nodes: readonly number[]) {
    this.#trace = trace;
    this.#nodes = nodes;
    this.#inside = new Set(nodes);
  }

  chart(): Chart {
    for (const bar of this.#open.values()) bar.to = this.#rows.length;
    return { lifelines: this.#nodes, rows: this.#rows, arrows: this.#arrows, bars: this.#bars, violation: this.#violation() };
  }

  #violation(): string | null {
    const last = this.#rows.at(-1)?.index ?? -1;
    return last >= this.#trace.length - 2 ? (this.#trace.end?.violation ?? null) : null;
  }

  read(lines: readonly number[]): void {
    const wanted = new Set(lines);
    const state = this.#trace.stateAt(lines[0] - 1).copy();
    for (const place of this.#nodes) if (place < state.nodes.length) this.#note(place, state.nodes[place], -1);
    for (let index = lines[0]; index <= lines[lines.length - 1]; index++) {
      const line = this.#trace.line(index);
      const row = wanted.has(index) ? this.#rows.length : null;
      if (row !== null) this.#rows.push(rowOf(line, index, this.#trace));
      apply(state, line, this.#trace.table, {
        sent: (flight) => this.#send(flight, row),
        ended: (flight, fate) => this.#end(flight, fate, row),
      });
      state.index = index;
      if (row === null || !("node" in line) || line.node === null) continue;
      this.#note(line.node, state.nodes[line.node], row);
    }
  }

  #send(flight: Flight, row: number | null): void {
    if (row === null || !this.#inside.has(flight.from) || !this.#inside.has(flight.to)) return;
    this.#arrow(flight, row);
  }

  #end(flight: Flight, fate: Fate, row: number | null): void {
    if (!this.#inside.has(flight.from) || !this.#inside.has(flight.to)) return;
    const arrow = this.#byFlight.get(flight.id) ?? (row === null ? null : this.#arrow(flight, null));
    if (!arrow) return;
    arrow.ended = row ?? Math.max(0, this.#rows.length - 1);
    arrow.fate = fate;
  }

  #arrow(flight: Flight, sent: number | null): Arrow {
    const arrow: Arrow = { from: flight.from, to: flight.to, label: flight.content.label, isToken: flight.content.isToken, sent, ended: null, fate: null };
    this.#arrows.push(arrow);
    if (flight.id >= 0) this.#byFlight.set(flight.id, arrow);
    return arrow;
  }

  #note(id: number, { section, isLeft, permits, hasToken }: NodeState, row: number): void {
    this.#bar(id, "waiting", section === "waiting", row);
    this.#bar(id, "critical", section === "critical" && !isLeft, row);
    this.#bar(id, "left", isLeft, row);
    this.#bar(id, "holding", permits.length > 0 || hasToken, row);
  }

  #bar(node: number, kind: BarKind, is: boolean, row: number): void {
    const name = `${node} ${kind}`;
    const open = this.#open.get(name);
    if (is && !open) {
      const bar: Bar = { node, kind, from: row, to: row };
      this.#bars.push(bar);
      this.#open.set(name, bar);
    } else if (!is && open) {
      open.to = row;
      this.#open.delete(name);
    }
  }
}

function rowOf(line: Line, index: number, trace: Trace): Row {
  const t = trace.t.at(index);
  switch (line.kind) {
    case "step":
      return { index, t, node: line.node, text: stepText(line), link: null };
    case "link":
      return { index, t, node: line.ends[0], text: line.up ? "link forms" : "link fails", link: line.ends };
    case "member":
      return { index, t, node: line.node, text: line.presence === "down" ? "is killed" : presenceWords(trace, index, line), link: null };
    case "join":
      return { index, t, node: line.node, text: "joins", link: null };
    case "lost":
      return { index, t, node: line.ends[1], text: `does not hear ${trace.roster.idOf(line.ends[0])}`, link: null };
    default:
      return { index, t, node: "ends" in line ? line.ends[0] : -1, text: line.kind, link: null };
  }
}

/** There is little room beside the last lifeline. */
const SHORT = new Map([
  ["restart", "was killed, and is back"],
  ["resume", "an earlier grant is shown"],
  ["gone", "no earlier application is left"],
]);

/** Null for a message that arrives and a link that changes: arrows and lines say so. */
function stepText(step: Step): string | null {
  const [kind, content] = variant(step.input) ?? ["step", null];
  if (kind === "below") return crossingText(content);
  if (kind === "message" || kind === "undelivered") return null;
  return `${SHORT.get(kind) ?? wordsFor(kind, content)}${step.refused ? " (refused)" : ""}`;
}

/** What a node hears of who comes and goes. */
function crossingText(content: Json): string | null {
  const [kind, detail] = variant(content) ?? ["", null];
  const peer = isFields(detail) && typeof detail.peer === "number" ? detail.peer : "?";
  switch (kind) {
    case "leaving":
      return "is about to leave";
    case "entered":
      return "has entered";
    case "met":
      return `${peer} is here`;
    case "parted":
      return `${peer} has gone`;
    default:
      return null;
  }
}
