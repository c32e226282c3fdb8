// Light or dark: as the system has it, or as somebody chose here.

type Theme = "light" | "dark";

export class ThemeSwitch {
  readonly #changed: () => void;
  readonly #system = matchMedia("(prefers-color-scheme: dark)");

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#system.addEventListener("change", changed);
  }

  get now(): Theme {
    const chosen = document.documentElement.dataset.theme;
    return chosen === "light" || chosen === "dark" ? chosen : this.#system.matches ? "dark" : "light";
  }

  toggle(): void {
    document.documentElement.dataset.theme = this.now === "dark" ? "light" : "dark";
    this.#changed();
  }
}
