// What the papers say: the text behind a clause's mark.
import type { Fields } from "../trace/record";
import { isFields } from "../trace/record";

export interface ClauseText {
  readonly text: string;
  /** Where in the paper it is, if the page says so. */
  readonly place: string | null;
  readonly paper: string;
}

export class Clauses {
  #pages: Fields = {};

  async load(): Promise<void> {
    try {
      const response = await fetch("clauses.json");
      const pages = (await response.json()) as unknown as Fields;
      if (isFields(pages)) this.#pages = pages;
    } catch {
      // Opened as a file the page cannot read it: the marks stand without their text.
    }
  }

  /** The pages of these names, the nearest first. */
  #named(pages: readonly string[]): Fields[] {
    return pages.filter((name) => Object.hasOwn(this.#pages, name)).map((name) => this.#pages[name]).filter(isFields);
  }

  /**
   * The text of a clause; `recv-token.5` is line 5 of what `recv-token` names, or begins there and says where it ends.
   */
  find(pages: readonly string[], mark: string): ClauseText | null {
    const [, whole, line] = /^(.*)\.(\d+)$/.exec(mark) ?? [];
    for (const page of this.#named(pages)) {
      const known = isFields(page.clauses) ? page.clauses : {};
      const text = Object.hasOwn(known, mark) ? known[mark] : undefined;
      if (typeof text !== "string") continue;
      const [, words, lines] = /^(.*) \((lines \d+ (?:to|and) \d+)\)$/.exec(text) ?? [null, text, `line ${line}`];
      const place = whole !== undefined && Object.hasOwn(known, whole) ? `${String(known[whole])}, ${lines}` : null;
      return { text: place === null ? text : words, place, paper: String(page.paper ?? "") };
    }
    return null;
  }

  repair(pages: readonly string[], name: string): string | null {
    for (const page of this.#named(pages)) {
      const repairs = isFields(page.repairs) ? page.repairs : {};
      if (Object.hasOwn(repairs, name) && typeof repairs[name] === "string") return repairs[name];
    }
    return null;
  }
}
