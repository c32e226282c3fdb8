// What the marks on the map mean; of the rare ones, those that are there.
import { type State, isDown } from "../model/state";
import { el } from "./dom";

type Rare = "downhill" | "route" | "outside" | "absent" | "crashed" | "down" | "left" | "paused" | "doubt" | "cut" | "fault";

export class Legend {
  readonly element = el("ul", { class: "legend", label: "Legend" });
  readonly #rare: Readonly<Record<Rare, HTMLElement>> = {
    downhill: entry("downhill", "link, to the lower end"),
    route: entry("route", "way of its messages"),
    outside: entry("outside", "outside"),
    absent: entry("outside", "not there"),
    crashed: entry("crashed", "crashed"),
    down: entry("crashed", "down: killed, and will be back"),
    left: entry("left", "in use from an earlier life, perhaps"),
    paused: entry("paused", "paused"),
    doubt: entry("doubt", "token in doubt"),
    cut: entry("cut", "cut"),
    fault: entry("fault", "fault"),
  };

  constructor() {
    this.element.append(entry("remainder", "idle"), entry("waiting", "waiting"), entry("critical", "critical section"), entry("token", "token"), entry("message", "message"), ...Object.values(this.#rare));
  }

  show(state: State, selected: number | null): void {
    const { nodes } = state;
    this.#rare.downhill.hidden = !nodes.some((node) => node.height !== null);
    this.#rare.route.hidden = selected === null || ![...(state.routes[selected] ?? [])].some(([to, via]) => to !== via);
    this.#rare.outside.hidden = !nodes.some((node) => node.presence === "outside");
    this.#rare.absent.hidden = !nodes.some((node) => node.absent);
    this.#rare.crashed.hidden = !nodes.some((node) => isDown(node) && node.presence !== "down");
    this.#rare.down.hidden = !nodes.some((node) => node.presence === "down");
    this.#rare.left.hidden = !nodes.some((node) => node.isLeft);
    this.#rare.paused.hidden = !nodes.some((node) => node.paused);
    this.#rare.doubt.hidden = state.doubts.size === 0;
    const faults = [...state.faults.values()];
    this.#rare.cut.hidden = !faults.some((fault) => fault.ends !== null);
    this.#rare.fault.hidden = !faults.some((fault) => fault.shape !== null);
  }
}

function entry(look: string, words: string): HTMLElement {
  return el("li", {}, el("i", { class: `glyph ${look}`, attrs: { "aria-hidden": "true" } }), words);
}
