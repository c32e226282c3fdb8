// The keyboard: everything that the mouse can do with time and selection.
import { button, el } from "./dom";

export interface KeyActions {
  toggle(): void;
  step(direction: 1 | -1): void;
  toStart(): void;
  toEnd(): void;
  toViolation(): void;
  selectNext(direction: 1 | -1): void;
  selectLink(direction: 1 | -1): void;
  deselect(): void;
  /** To the buttons of what is selected. */
  acts(): void;
  /** Moves the selected node, by steps to the right and down. */
  nudge(x: number, y: number): void;
  faster(direction: 1 | -1): void;
  fit(): void;
  chart(): void;
  nextResource(): void;
}

const HELP: readonly (readonly [string, string])[] = [
  ["space", "play or pause"],
  ["→  ←", "one event on, one back"],
  ["Home  End", "to the start, to the end (of a live run: go live)"],
  ["+  −", "faster, slower"],
  ["v", "to the violation"],
  ["j  k", "select the next node, the one before"],
  ["l  L", "from the node to its links, one after the other, and back"],
  ["Enter", "to the buttons of the node or link (in the demo)"],
  ["shift + arrows", "move the node (in the demo)"],
  ["Esc", "deselect"],
  ["c", "map or sequence chart"],
  ["r", "the next resource, if several are shared"],
  ["0", "the whole field in sight (or double-click)"],
  ["shift + click", "on a node: take it into the chart, or out of it"],
  ["shift + drag", "on the time line: the range of the chart"],
  ["?", "these keys"],
];

export class Keys {
  readonly help: HTMLDialogElement;
  readonly #actions: KeyActions;

  constructor(actions: KeyActions) {
    this.#actions = actions;
    const list = el("dl", { class: "keys" }, ...HELP.flatMap(([key, what]) => [el("dt", { text: key }), el("dd", { text: what })]));
    this.help = el("dialog", { class: "help", label: "Keys" }, el("h2", { text: "Keys" }), list, button("Close", { onclick: () => this.help.close() }));
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const target = event.target as Element | null;
    if (target?.closest("input, select, textarea")) return;
    if ((event.key === " " || event.key === "Enter") && target?.closest("button, summary")) return;
    const action = event.shiftKey ? (this.#moveOf(event.key) ?? this.#actionOf(event.key)) : this.#actionOf(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #moveOf(key: string): (() => void) | null {
    switch (key) {
      case "ArrowRight": return () => this.#actions.nudge(1, 0);
      case "ArrowLeft": return () => this.#actions.nudge(-1, 0);
      case "ArrowUp": return () => this.#actions.nudge(0, -1);
      case "ArrowDown": return () => this.#actions.nudge(0, 1);
      default: return null;
    }
  }

  #actionOf(key: string): (() => void) | null {
    const act = this.#actions;
    switch (key) {
      case " ": return () => act.toggle();
      case "ArrowRight": return () => act.step(1);
      case "ArrowLeft": return () => act.step(-1);
      case "Home": return () => act.toStart();
      case "End": return () => act.toEnd();
      case "v": return () => act.toViolation();
      case "j": return () => act.selectNext(1);
      case "k": return () => act.selectNext(-1);
      case "l": return () => act.selectLink(1);
      case "L": return () => act.selectLink(-1);
      case "Enter": return () => act.acts();
      case "Escape": return () => act.deselect();
      case "+": case "=": return () => act.faster(1);
      case "-": return () => act.faster(-1);
      case "0": return () => act.fit();
      case "c": return () => act.chart();
      case "r": return () => act.nextResource();
      case "?": return () => this.help.showModal();
      default: return null;
    }
  }
}
