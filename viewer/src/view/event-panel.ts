// The current step in words, with the clauses of the paper that it executed.
import { meaningOf } from "../model/violation";
import { type Deed, tell, timeWords } from "../model/words";
import type { State } from "../model/state";
import type { Line, Status } from "../trace/record";
import type { Trace } from "../trace/trace";
import type { Clauses } from "./clauses";
import { el } from "./dom";

/** Deeds that are listed; a broadcast network can have thousands. */
const DEEDS_MAX = 60;

export class EventPanel {
  readonly element = el("section", { class: "panel event", label: "The current event" });
  readonly #clauses: Clauses;
  readonly #go: (node: number) => void;
  #shown: string | null = null;

  constructor(clauses: Clauses, select: (node: number) => void) {
    this.#clauses = clauses;
    this.#go = select;
  }

  show(trace: Trace, index: number): void {
    const name = `${trace.shown} ${index}`;
    if (this.#shown === name) return;
    this.#shown = name;
    if (index < 0) return this.#atStart(trace);
    const line = trace.line(index);
    const told = tell(trace, index);
    const head = el("p", { class: "when" }, `t = ${timeWords(trace.t.at(index))}`, el("span", { text: `line ${(index + 2).toLocaleString("en-GB")}` }));
    const what = el("h2", { class: line.kind === "end" && line.violation ? "violated" : "", text: told.what });
    const deeds = el("ol", { class: "deeds" }, ...told.deeds.slice(0, DEEDS_MAX).map((deed) => this.#deed(trace, deed)));
    if (told.deeds.length > DEEDS_MAX) deeds.append(el("li", { class: "quiet", text: `and ${told.deeds.length - DEEDS_MAX} more` }));
    const meaning = line.kind === "end" && line.violation ? el("p", { class: "meaning", text: line.about === trace.shown ? meaningOf(line.violation, trace.stateAt(index)) : "This is about another of the resources." }) : null;
    const refused = told.refused ? el("p", { class: "refused", text: `Refused: ${told.refused}` }) : null;
    const nothing = line.kind === "step" && told.deeds.length === 0 && !told.refused ? el("p", { class: "quiet", text: "It sends nothing, and nothing changes that others could see." }) : null;
    const changes = line.kind === "step" && line.status ? changesOf(line.status, trace.stateAt(index - 1), line.node) : null;
    this.element.replaceChildren(head, what, ...[meaning, refused, nothing, told.deeds.length > 0 ? deeds : null, changes, this.#whose(trace, line)].filter((part) => part !== null));
  }

  /** The next call draws anew, whatever was shown. */
  forget(): void {
    this.#shown = null;
  }

  #atStart(trace: Trace): void {
    const { header, resource } = trace;
    const { algorithm, k, without, neighbourhoods, pages } = resource;
    const inside = neighbourhoods.reduce((sum, members) => sum + members.length, 0);
    const members = neighbourhoods.length > 1 ? `in each of ${neighbourhoods.length} neighbourhoods` : `${inside.toLocaleString("en-GB")} inside`;
    const links = header.links.length > 0 ? `${header.links.length.toLocaleString("en-GB")} links` : neighbourhoods.length > 0 ? members : "no links";
    const parts: HTMLElement[] = [
      el("p", { class: "when" }, "t = 0.000", el("span", { text: "line 1" })),
      el("h2", { text: "The start" }),
      el("p", { text: `${algorithm} on ${header.nodes.toLocaleString("en-GB")} nodes, k = ${k.toLocaleString("en-GB")}${header.field && header.links.length === 0 && neighbourhoods.length === 0 ? "; links form as nodes meet" : neighbourhoods.length > 1 ? ` ${members}` : `, ${links}`}.` }),
    ];
    if (header.command) parts.push(el("p", { class: "quiet", text: "A counterexample, found by" }), el("pre", { text: header.command }));
    if (without.length > 0) parts.push(this.#without(pages, without));
    parts.push(el("p", { class: "quiet hint", text: "Press → for the first event, space to play." }));
    this.element.replaceChildren(...parts);
  }

  #without(pages: readonly string[], names: readonly string[]): HTMLElement {
    const items = names.slice(0, 40).map((name) => el("li", {}, el("code", { text: name }), ` ${this.#clauses.repair(pages, name) ?? ""}`));
    return el("details", { class: "without" }, el("summary", { text: `${names.length} ${names.length === 1 ? "rule is" : "rules are"} switched off` }), el("ul", {}, ...items));
  }

  #deed(trace: Trace, deed: Deed): HTMLElement {
    if ("words" in deed) return el("li", { class: deed.strong ? "strong" : "", text: deed.words });
    const known = this.#clauses.find(trace.resource.pages, deed.clause);
    const mark = el("summary", {}, el("code", { text: deed.clause }), el("span", { class: "gist", text: known ? gist(known.text) : "" }));
    const body = known
      ? el("blockquote", {}, el("p", { text: known.text }), known.place ? el("p", { class: "quiet", text: known.place }) : null, el("cite", { text: known.paper }))
      : el("p", { class: "quiet", text: "The page about the paper does not explain this mark." });
    return el("li", { class: "clause" }, el("details", {}, mark, body));
  }

  #whose(trace: Trace, line: Line): HTMLElement | null {
    if (line.kind !== "step" && line.kind !== "member" && line.kind !== "join") return null;
    const { node } = line;
    return el("p", { class: "more" }, el("button", { text: `Look at node ${trace.roster.idOf(node)}`, attrs: { type: "button" }, onclick: () => this.#go(node) }));
  }
}

function gist(text: string): string {
  return text.length > 62 ? `${text.slice(0, 60).trimEnd()}…` : text;
}

/** What the step changed in the node, before and after. */
function changesOf(status: Status, before: State, id: number): HTMLElement {
  const node = before.nodes[id];
  const units = (list: readonly number[]) => (list.length === 0 ? "none" : list.slice(0, 12).join(", ") + (list.length > 12 ? ", …" : ""));
  const ids = (places: readonly number[]) => units(before.roster.idsOf(places));
  const rows: [string, string, string][] = [];
  if (status.section) rows.push(["section", node.section, status.section]);
  if (status.permits) rows.push(["units", units(node.permits), units(status.permits)]);
  if (status.queue) rows.push(["queue", ids(node.queue), ids(status.queue)]);
  if (status.waitsOn) rows.push(["waits on", ids(node.waitsOn), ids(status.waitsOn)]);
  if (status.height) rows.push(["height", node.height ? `(${node.height.join(", ")})` : "?", `(${status.height.join(", ")})`]);
  return el("table", { class: "changes" }, el("caption", { text: `Changed at node ${before.roster.idOf(id)}` }),
    ...rows.map(([name, was, is]) => el("tr", {}, el("th", { text: name, attrs: { scope: "row" } }), el("td", { class: "was", text: was }), el("td", { class: "arrow", text: "→" }), el("td", { text: is }))));
}
