// The selected node: what it knows, and why it waits.
import { type State, idlePermits, isDown } from "../model/state";
import { whyWaits, type Why } from "../model/why";
import { timeWords } from "../model/words";
import type { Roster } from "../trace/roster";
import { button, el, renew } from "./dom";

const IDS_MAX = 40;

/** Whether a link is there, is known to one end only, or not there; or whether somebody has cut it. */
export type LinkLook = "there" | "half" | "none" | "cut";

/** What can be selected from here. */
export interface NodeActions {
  select(node: number | null): void;
  selectLink(ends: readonly [number, number]): void;
}

const LINK_WORDS: Readonly<Record<LinkLook, string>> = { there: "there", half: "only one end knows of it", none: "not there", cut: "cut" };

export class NodePanel {
  readonly element = el("section", { class: "panel node", label: "The selected node" });
  readonly #actions: NodeActions;
  #shown = "";
  #why: Why | null = null;

  constructor(actions: NodeActions) {
    this.#actions = actions;
    this.element.hidden = true;
  }

  /** The chain that the map should show. */
  get why(): Why | null {
    return this.#why;
  }

  /** The node, with what can be done to it. */
  show(state: State, id: number | null, version: string, linked: (node: number) => readonly number[], acts: (node: number) => HTMLElement | null): void {
    this.element.hidden = id === null;
    const name = `${state.number} ${id} ${version}`;
    if (name === this.#shown) return;
    this.#shown = name;
    this.#why = null;
    if (id === null) return;
    const [node, { roster }] = [state.nodes[id], state];
    this.#why = node.section === "waiting" ? whyWaits(state, id) : null;
    const head = el("div", { class: "node-head" }, el("h2", { text: `Node ${roster.idOf(id)}` }), el("span", { class: `section ${node.section}`, text: sectionWords(state, id) }), button("Close", { class: "plain", label: "Deselect the node", onclick: () => this.#actions.select(null) }));
    const idle = idlePermits(node);
    const facts: [string, Node[]][] = [
      ["in use", [units(node.granted), document.createTextNode(node.isLeft && node.granted.length > 0 ? ", perhaps, by an application of its earlier life" : "")]],
      ["idle units", [units(idle), document.createTextNode(node.hasToken ? " and the token" : "")]],
      ["queue", this.#links(roster, node.queue)],
      ["waits on", this.#links(roster, node.waitsOn)],
    ];
    if (state.resource.neighbourhoods.length > 1) facts.unshift(["in", [document.createTextNode(node.presence === "outside" || node.area === null ? "no neighbourhood" : `neighbourhood ${node.area}`)]]);
    const links = linked(id);
    if (links.length > 0) facts.push(["links", this.#linksOf(roster, id, links)]);
    if (node.height) facts.push(["height", [document.createTextNode(`(${node.height.join(", ")})`)]]);
    const routes = state.routes[id];
    if (routes && routes.size > 0) facts.push(["routes", [document.createTextNode(routesWords(routes, roster))]]);
    const table = el("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", {}, ...value)]));
    const buttons = acts(id);
    renew(this.element, head, ...(buttons ? [buttons] : []), ...(this.#why ? [whyWords(this.#why, roster)] : []), table);
  }

  /** A link, in place of a node. */
  showLink(roster: Roster, ends: readonly [number, number], state: LinkLook, acts: HTMLElement | null): void {
    const name = `link ${ends.join()} ${state} ${acts !== null}`;
    this.element.hidden = false;
    this.#why = null;
    if (name === this.#shown) return;
    this.#shown = name;
    const head = el("div", { class: "node-head" }, el("h2", { text: `Link ${roster.idsOf(ends).join("–")}` }), el("span", { class: "section", text: LINK_WORDS[state] }), button("Close", { class: "plain", label: "Deselect the link", onclick: () => this.#actions.select(null) }));
    const between = el("dl", { class: "facts" }, el("dt", { text: "between" }), el("dd", {}, ...this.#links(roster, ends)));
    renew(this.element, head, ...(acts ? [acts] : []), between);
  }

  #links(roster: Roster, nodes: readonly number[]): Node[] {
    if (nodes.length === 0) return [document.createTextNode("none")];
    return shortened(nodes, (place) => button(String(roster.idOf(place)), { class: "id", label: `Node ${roster.idOf(place)}`, onclick: () => this.#actions.select(place) }));
  }

  #linksOf(roster: Roster, id: number, others: readonly number[]): Node[] {
    return shortened(others, (other) => button(String(roster.idOf(other)), { class: "id", label: `Link ${roster.idsOf([id, other]).join("–")}`, onclick: () => this.#actions.selectLink([id, other]) }));
  }
}

/** At most so many, and how many more there are. */
function shortened(ids: readonly number[], item: (id: number) => Node): Node[] {
  const shown = ids.slice(0, IDS_MAX).map(item);
  return ids.length > IDS_MAX ? [...shown, document.createTextNode(` and ${ids.length - IDS_MAX} more`)] : shown;
}

function units(list: readonly number[]): Text {
  return document.createTextNode(list.length === 0 ? "none" : list.slice(0, IDS_MAX).join(", ") + (list.length > IDS_MAX ? ", …" : ""));
}

function routesWords(routes: ReadonlyMap<number, number>, roster: Roster): string {
  const others = [...routes].filter(([to, via]) => to !== via);
  const direct = routes.size - others.length;
  const words = others.slice(0, 8).map(([to, via]) => `to ${roster.idOf(to)} by ${roster.idOf(via)}`);
  if (others.length > 8) words.push(`${others.length - 8} more`);
  if (direct > 0) words.push(`${direct} directly`);
  return words.join(", ");
}

export function sectionWords(state: State, id: number): string {
  const node = state.nodes[id];
  if (node.absent) return "not there";
  if (node.presence === "down") return "down: killed, and will be back";
  if (isDown(node)) return "crashed";
  if (node.presence === "outside") return "outside";
  const paused = node.paused ? ", paused" : "";
  if (node.section === "remainder") return `idle${paused}`;
  if (node.isLeft) return `an application of its earlier life may be in its critical section, since ${timeWords(node.since)}${paused}`;
  return `${node.section === "critical" ? "in its critical section" : "waiting"} since ${timeWords(node.since)}${paused}`;
}

function whyWords(why: Why, roster: Roster): HTMLElement {
  const path = el("p", { class: "why-path", text: roster.idsOf(why.path).join(" → ") });
  return el("div", { class: `why ${why.ending}` }, el("h3", { text: "Why is it waiting?" }), path, ...why.sentences.map((sentence) => el("p", { text: sentence })));
}
