// The colours of the style sheet, for what is drawn on canvases.

const NAMES = ["paper", "ink", "soft", "faint", "line", "link", "arrow", "remainder", "waiting", "critical", "token", "token-ink", "trail", "bad", "doubt", "accent", "fault", "area", "on-waiting", "on-critical"] as const;

export type Palette = Readonly<Record<(typeof NAMES)[number], string>>;

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || "#888"])) as Palette;
}
