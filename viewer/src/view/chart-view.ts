// The message sequence chart: lifelines down, messages across. A click on anything goes to its line.
import { type Arrow, type Bar, type Chart, LIFELINES_MAX, chartOf, linesOf, nodesAround } from "../model/sequence";
import { timeWords } from "../model/words";
import type { Roster } from "../trace/roster";
import type { Trace } from "../trace/trace";
import { button, el, say, svg } from "./dom";

const TOP = 12;
const ROW = 24;
const LEFT = 74;
const LIFELINES_CHOSEN_MAX = 40;
/** Ids in a range that are looked for. */
const IDS_MAX = 100_000;

export class ChartView {
  readonly element = el("div", { class: "chart", label: "Message sequence chart" });
  readonly #go: (index: number) => void;
  readonly #field = el("input", { label: "Nodes of the chart", attrs: { type: "text", placeholder: "nodes, such as 0, 3, 5-8", spellcheck: "false", size: "22" } });
  readonly #words = el("span", { class: "quiet" });
  readonly #paper = el("div", { class: "chart-paper", attrs: { tabindex: "0" } });
  readonly #changed: () => void;
  #shown = "";
  #chart: Chart | null = null;
  /** The nodes and the lines stay while one steps through them. */
  #kept: { readonly trace: Trace; readonly nodes: readonly number[]; readonly lines: readonly number[]; readonly name: string } | null = null;

  constructor(go: (index: number) => void, changed: () => void) {
    this.#go = go;
    this.#changed = changed;
    this.#field.addEventListener("change", () => {
      this.#kept = null;
      changed();
    });
    const all = button("Whoever takes part", { onclick: () => {
      this.#field.value = "";
      this.#kept = null;
      this.#changed();
    } });
    this.element.append(el("div", { class: "chart-bar" }, el("label", {}, "nodes ", this.#field), all, this.#words), this.#paper);
  }

  /** Takes a node among the lifelines, or out of them; says which are chosen now, by their ids. */
  toggle(node: number, roster: Roster): readonly number[] {
    const chosen = new Set(parseNodes(this.#field.value, roster));
    if (!chosen.delete(node)) chosen.add(node);
    const ids = [...roster.idsOf([...chosen])].sort((a, b) => a - b);
    this.#field.value = ids.join(", ");
    this.#kept = null;
    return ids;
  }

  show(trace: Trace, index: number, brush: readonly [number, number] | null): void {
    const [nodes, lines] = this.#choice(trace, index, brush);
    const name = `${trace.shown} ${nodes.join()} ${lines[0]} ${lines[lines.length - 1]} ${lines.length} ${trace.length}`;
    if (name !== this.#shown) {
      this.#shown = name;
      this.#chart = chartOf(trace, nodes, lines);
      this.#draw(this.#chart, trace.roster);
    }
    this.#mark(index);
  }

  #choice(trace: Trace, index: number, brush: readonly [number, number] | null): readonly [readonly number[], readonly number[]] {
    const name = `${trace.shown} ${this.#field.value} ${brush?.join() ?? ""}`;
    const kept = this.#kept;
    if (kept && kept.trace === trace && kept.name === name && (brush || (kept.lines.length > 2 && index >= kept.lines[1] && index <= kept.lines[kept.lines.length - 2]))) return [kept.nodes, kept.lines];
    const chosen = parseNodes(this.#field.value, trace.roster);
    const middle = brush ? trace.indexAt((brush[0] + brush[1]) / 2) : index;
    const nodes = chosen.length > 0 ? chosen : nodesAround(trace, middle);
    const lines = linesOf(trace, new Set(nodes), index, brush);
    this.#kept = { trace, nodes, lines, name };
    const many = chosen.length === 0 && trace.roster.size > LIFELINES_MAX ? `${nodes.length} of ${trace.roster.size} nodes · ` : "";
    say(this.#words, `${many}${lines.length} events${brush ? " in the chosen range" : " around this one"}`);
    return [nodes, lines];
  }

  #draw(chart: Chart, roster: Roster): void {
    const step = Math.max(64, Math.min(170, (this.#paper.clientWidth - LEFT - 20) / Math.max(chart.lifelines.length, 1)));
    const x = new Map(chart.lifelines.map((id, at) => [id, LEFT + step * (at + 0.5)]));
    const width = LEFT + step * chart.lifelines.length + 60;
    const height = TOP + ROW * (chart.rows.length + 1) + 10;
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Message sequence chart" });
    const names = svg("svg", { width, height: 26, class: "names", "aria-hidden": "true" });
    for (const [id, at] of x) {
      picture.append(svg("line", { x1: at, x2: at, y1: 0, y2: height, class: "life" }));
      names.append(svg("text", { x: at, y: 18, class: "life-name" }, String(roster.idOf(id))));
    }
    for (const bar of chart.bars) picture.append(drawBar(bar, x.get(bar.node)!));
    picture.append(svg("rect", { x: 0, width, height: ROW, class: "chart-now", y: -100 }));
    for (const arrow of chart.arrows) picture.append(this.#arrow(chart, arrow, x));
    chart.rows.forEach((row, at) => picture.append(this.#row(chart, at, x, row.t)));
    const violated = chart.violation ? [el("p", { class: "chart-end", text: `Violated: ${chart.violation}` })] : [];
    if (chart.rows.length > 0) this.#paper.replaceChildren(names, picture, ...violated);
    else this.#paper.replaceChildren(el("p", { class: "quiet", text: "Nothing happens to these nodes here." }));
  }

  #row(chart: Chart, at: number, x: ReadonlyMap<number, number>, t: number): SVGElement {
    const row = chart.rows[at];
    const y = TOP + ROW * (at + 1);
    const group = svg("g", { class: "row" });
    const fresh = at === 0 || chart.rows[at - 1].t !== t;
    if (fresh) group.append(svg("text", { x: LEFT - 12, y: y + 4, class: "time" }, timeWords(t)));
    const place = x.get(row.node);
    if (row.link && x.has(row.link[0]) && x.has(row.link[1])) {
      group.append(svg("line", { x1: x.get(row.link[0])!, x2: x.get(row.link[1])!, y1: y, y2: y, class: "link-change" }));
    }
    if (place !== undefined) {
      group.append(svg("circle", { cx: place, cy: y, r: 3.2, class: "dot" }));
      if (row.text) group.append(svg("text", { x: place + 9, y: y - 4, class: "local" }, row.text));
    }
    group.append(svg("rect", { x: 0, y: y - ROW / 2, width: LEFT - 4, height: ROW, class: "hit" }));
    group.addEventListener("click", () => this.#go(row.index));
    return group;
  }

  #arrow(chart: Chart, arrow: Arrow, x: ReadonlyMap<number, number>): SVGElement {
    const [from, to] = [x.get(arrow.from)!, x.get(arrow.to)!];
    const y = (row: number) => TOP + ROW * (row + 1);
    const [y1, y2] = [arrow.sent === null ? TOP : y(arrow.sent), arrow.ended === null ? y(chart.rows.length) : y(arrow.ended)];
    const arrives = arrow.fate === "arrived" || arrow.fate === "refused";
    const end = arrives ? to : from + (to - from) * 0.7;
    const group = svg("g", { class: `message${arrow.isToken ? " is-token" : ""}${arrives ? "" : " ends"}` });
    group.append(svg("line", { x1: from, y1, x2: end, y2, class: "shaft" }), svg("line", { x1: from, y1, x2: end, y2, class: "hit-line" }));
    group.append(arrives ? head(from, y1, end, y2) : svg("text", { x: end, y: y2 + 4, class: "fate" }, arrow.fate === null ? "…" : "×"));
    const words = arrow.fate === "returned" || arrow.fate === "lost" || arrow.fate === "refused" ? `${arrow.label}, ${arrow.fate}` : arrow.label;
    group.append(svg("text", { x: end + (from - end) * 0.3, y: y2 + (y1 - y2) * 0.3 - 4, class: "label" }, words));
    const target = arrow.ended ?? arrow.sent;
    if (target !== null && chart.rows[target]) group.addEventListener("click", () => this.#go(chart.rows[target].index));
    return group;
  }

  #mark(index: number): void {
    const mark = this.#paper.querySelector(".chart-now");
    const at = this.#chart?.rows.findIndex((row) => row.index === index) ?? -1;
    if (!mark) return;
    const y = at < 0 ? "-100" : String(TOP + ROW * (at + 0.5));
    if (mark.getAttribute("y") === y) return;
    mark.setAttribute("y", y);
    if (at >= 0) this.#reveal(TOP + ROW * (at + 1));
  }

  #reveal(y: number): void {
    const { scrollTop, clientHeight } = this.#paper;
    if (y < scrollTop + 60 || y > scrollTop + clientHeight - 60) this.#paper.scrollTop = y - clientHeight / 2;
  }
}

function head(fromX: number, fromY: number, x: number, y: number): SVGElement {
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const [ux, uy] = [(x - fromX) / length, (y - fromY) / length];
  const [tipX, tipY] = [x - ux * 3, y - uy * 3];
  return svg("path", { d: `M${tipX} ${tipY}L${tipX - ux * 9 - uy * 4} ${tipY - uy * 9 + ux * 4}L${tipX - ux * 9 + uy * 4} ${tipY - uy * 9 - ux * 4}Z`, class: "tip-head" });
}

function drawBar(bar: Bar, x: number): SVGElement {
  const y = TOP + ROW * (Math.max(bar.from, -0.4) + 1);
  const width = bar.kind === "holding" ? 3 : 9;
  return svg("rect", { x: bar.kind === "holding" ? x - 9 : x - width / 2, y, width, height: Math.max(2, TOP + ROW * (bar.to + 1) - y), class: `bar ${bar.kind}` });
}

/** "0, 3, 5-8" as places of nodes with these ids; what is none is passed over. */
export function parseNodes(text: string, roster: Roster): readonly number[] {
  const found = new Set<number>();
  for (const part of text.split(/[,\s]+/)) {
    const range = /^(\d{1,10})(?:[-–](\d{1,10}))?$/.exec(part);
    if (!range) continue;
    const first = Number(range[1]);
    const last = Math.min(Number(range[2] ?? first), first + IDS_MAX);
    for (let id = first; id <= last && found.size < LIFELINES_CHOSEN_MAX; id++) {
      const place = roster.placeOf(id);
      if (place !== undefined) found.add(place);
    }
  }
  return [...found].sort((a, b) => a - b);
}
