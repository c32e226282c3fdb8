// Which of several resources the page shows, and how each has stood the run.
import type { Resource } from "../trace/record";
import type { Trace } from "../trace/trace";
import { el } from "./dom";

export class ResourceChoice {
  readonly element = el("select", { class: "resource", label: "Resource" });
  #shown = "";

  constructor(choose: (resource: number) => void) {
    this.element.hidden = true;
    this.element.addEventListener("change", () => {
      choose(Number(this.element.value));
      // The keys are for the run again.
      this.element.blur();
    });
  }

  show(trace: Trace | null): void {
    const names = trace ? trace.header.resources.map((resource, number) => `${resourceName(resource, number)}: ${verdictOf(trace, number)}`) : [];
    this.element.hidden = names.length < 2;
    if (names.join() !== this.#shown) {
      this.#shown = names.join();
      this.element.replaceChildren(...names.map((text, number) => el("option", { text, attrs: { value: String(number) } })));
    }
    this.element.value = String(trace?.shown ?? 0);
  }
}

export function resourceName({ algorithm, k }: Resource, number: number): string {
  return `resource ${number}, ${algorithm}, k = ${k.toLocaleString("en-GB")}`;
}

function verdictOf({ end }: Trace, number: number): string {
  if (end?.violation && end.about === number) return "violated";
  return end ? "held" : "held so far";
}
