// The verdict, always in sight.
import { timeWords } from "../model/words";
import type { Trace } from "../trace/trace";
import { resourceName } from "./resource-choice";
import { button, el, say } from "./dom";

export class Verdict {
  readonly element = el("div", { class: "verdict" });
  readonly #words = el("span", { class: "verdict-words" });
  /** For screen readers, which should hear of a change and not of every event that is counted. */
  readonly #spoken = el("span", { class: "unseen", attrs: { role: "status", "aria-live": "polite" } });
  #kind = "";
  readonly #jump = button("Go there", { class: "bad-button" });

  constructor(jump: () => void) {
    this.#jump.addEventListener("click", jump);
    this.#jump.hidden = true;
    this.element.append(el("span", { class: "verdict-mark", attrs: { "aria-hidden": "true" } }), this.#words, this.#jump, this.#spoken);
  }

  show(trace: Trace | null, live: boolean, loading: boolean): void {
    const violation = trace?.end?.violation ?? null;
    const kind = violation ? "violated" : !trace || loading || (!trace.end && !live) ? "open" : "held";
    this.element.hidden = trace === null;
    this.element.className = `verdict ${kind}`;
    this.#jump.hidden = !violation;
    if (!trace) return;
    const when = trace.end?.t ?? (trace.length > 0 ? trace.t.at(trace.length - 1) : 0);
    say(this.#words, violation ? `Violated at ${timeWords(when)}: ${violation}${whose(trace)}` : heldWords(trace, live, loading));
    this.#words.title = violation ?? "";
    if (kind === this.#kind) return;
    this.#kind = kind;
    say(this.#spoken, this.#words.textContent ?? "");
  }
}

/** Which of several resources a violation is about. */
function whose({ end, header: { resources } }: Trace): string {
  return end && resources.length > 1 ? ` (${resourceName(resources[end.about], end.about)})` : "";
}

function heldWords(trace: Trace, live: boolean, loading: boolean): string {
  const number = (count: number) => count.toLocaleString("en-GB");
  if (loading) return "Reading…";
  if (trace.end) return `Held to the end: ${number(trace.end.steps)} events`;
  if (live) return `Held so far: ${number(trace.checked ?? trace.length)} events checked`;
  return `No violation in ${number(trace.length)} lines; the end is missing`;
}
