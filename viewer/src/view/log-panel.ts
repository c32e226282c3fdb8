// What happened before and what comes next, a line each.
import { tell, timeWords } from "../model/words";
import type { Trace } from "../trace/trace";
import { el } from "./dom";

const BEFORE = 5;
const AFTER = 8;

export class LogPanel {
  readonly element = el("section", { class: "panel log", label: "Events around this one" });
  readonly #go: (index: number) => void;
  #shown = "";

  constructor(go: (index: number) => void) {
    this.#go = go;
  }

  show(trace: Trace, index: number): void {
    const around = linesAround(trace, index);
    const name = `${trace.shown} ${index} ${around.join()}`;
    if (name === this.#shown) return;
    this.#shown = name;
    const items = around.map((at) => this.#item(trace, at, at === index));
    this.element.replaceChildren(el("h3", { text: "Before and after" }), el("ol", {}, ...items));
  }

  forget(): void {
    this.#shown = "";
  }

  #item(trace: Trace, at: number, isCurrent: boolean): HTMLElement {
    const told = tell(trace, at);
    const granted = told.deeds.some((deed) => "words" in deed && deed.strong);
    const line = el("button", { class: granted ? "granted" : "", attrs: { type: "button", ...(isCurrent ? { "aria-current": "true" } : {}) }, onclick: () => this.#go(at) },
      el("span", { class: "log-time", text: timeWords(trace.t.at(at)) }), el("span", { class: "log-what", text: told.what }));
    return el("li", {}, line);
  }
}

function linesAround(trace: Trace, index: number): readonly number[] {
  const lines = index >= 0 && index < trace.length ? [index] : [];
  for (let at = index, count = 0; count < BEFORE && at > 0; count++) {
    at = trace.stop(at, -1);
    if (at < 0) break;
    lines.unshift(at);
  }
  for (let at = index, count = 0; count < AFTER; count++) {
    const next = trace.stop(at, 1);
    if (next <= at) break;
    lines.push((at = next));
  }
  return lines;
}
