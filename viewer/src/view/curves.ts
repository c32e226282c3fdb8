// Three curves over the whole run, one under the other, with the track's time scale.
import uPlot from "uplot";
import type { Series } from "../model/series";
import { el, say } from "./dom";
import { type Palette, readPalette } from "./palette";
import { MARGIN, gutter } from "./timeline";

type Key = "waiting" | "inUse" | "inFlight";
const CURVES: readonly { readonly key: Key; readonly name: string; readonly colour: "waiting" | "critical" | "soft" }[] = [
  { key: "waiting", name: "waiting", colour: "waiting" },
  { key: "inUse", name: "units in use", colour: "critical" },
  { key: "inFlight", name: "messages under way", colour: "soft" },
];
const HEIGHT = 42;

export class Curves {
  readonly element = el("div", { class: "curves" });
  readonly #seek: (now: number) => void;
  readonly #marks: HTMLElement[] = [];
  #values: HTMLElement[] = [];
  #plots: uPlot[] = [];
  #palette: Palette = readPalette();
  #series: Series | null = null;
  /** The units that there are, and in how many neighbourhoods. */
  #k = 0;
  #areas = 1;
  #width = 0;

  constructor(seek: (now: number) => void) {
    this.#seek = seek;
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  recolour(): void {
    this.#palette = readPalette();
    this.#build();
  }

  show(series: Series, k: number, areas: number): void {
    const rebuild = this.#plots.length === 0 || k !== this.#k || areas !== this.#areas;
    this.#series = series;
    [this.#k, this.#areas] = [k, areas];
    if (rebuild) this.#build();
    // As a batch it is done at once: the mark needs the new scale.
    else this.#plots.forEach((plot, at) => plot.batch(() => plot.setData(this.#data(CURVES[at].key))));
  }

  /** Moves the line that marks the instant, and says the values there. */
  mark(now: number, values: readonly number[]): void {
    const seconds = now / 1e9;
    this.#plots.forEach((plot, which) => {
      // A live run may be a little ahead of its curves.
      const x = plot.valToPos(Math.min(seconds, plot.scales.x.max ?? seconds), "x");
      this.#marks[which].style.transform = `translateX(${Number.isFinite(x) ? x : 0}px)`;
      say(this.#values[which], values[which].toLocaleString("en-GB"));
    });
  }

  #data(key: Key): uPlot.AlignedData {
    const series = this.#series!;
    const limit = key === "inUse" ? [series.t.map(() => this.#k * this.#areas)] : [];
    return [series.t, series[key], ...limit];
  }

  #fit(): void {
    const width = this.element.clientWidth;
    if (width === this.#width || width === 0) return;
    const other = gutter(width) !== gutter(this.#width);
    this.#width = width;
    if (this.#plots.length === 0 || other) this.#build();
    else for (const plot of this.#plots) plot.setSize({ width, height: HEIGHT });
  }

  #build(): void {
    if (!this.#series || this.element.clientWidth === 0) return;
    this.#width = this.element.clientWidth;
    for (const plot of this.#plots) plot.destroy();
    this.element.replaceChildren();
    this.#marks.length = 0;
    this.#values = [];
    this.#plots = CURVES.map((curve) => this.#plot(curve));
  }

  #plot(curve: (typeof CURVES)[number]): uPlot {
    const value = el("b");
    const limit = curve.key === "inUse" ? el("span", { class: "limit", text: ` of ${this.#areas > 1 ? `${this.#areas} × ` : ""}k = ${this.#k.toLocaleString("en-GB")}` }) : null;
    const row = el("div", { class: "curve" }, el("div", { class: `curve-name ${curve.key}` }, `${curve.name} `, value, limit));
    this.element.append(row);
    const plot = new uPlot(this.#options(curve), this.#data(curve.key), row);
    const mark = el("div", { class: "curve-mark" });
    plot.over.append(mark);
    this.#marks.push(mark);
    this.#values.push(value);
    this.#listen(plot);
    return plot;
  }

  #listen(plot: uPlot): void {
    const seek = (event: PointerEvent) => this.#seek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x") * 1e9);
    plot.over.addEventListener("pointerdown", (event) => {
      plot.over.setPointerCapture(event.pointerId);
      seek(event);
    });
    plot.over.addEventListener("pointermove", (event) => {
      if (plot.over.hasPointerCapture(event.pointerId)) seek(event);
    });
  }

  #options(curve: (typeof CURVES)[number]): uPlot.Options {
    const palette = this.#palette;
    const stepped = uPlot.paths.stepped!({ align: 1 });
    const axis = { stroke: palette.soft, font: "9.5px ui-sans-serif, system-ui, sans-serif", ticks: { show: false } };
    return {
      width: this.#width,
      height: HEIGHT,
      padding: [7, MARGIN, 6, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: (_, low, high) => [Math.min(0, low), Math.max(high, 1e-9)] }, y: { range: (_, __, high) => [0, Math.max(1, high * 1.08)] } },
      axes: [
        { show: false },
        { ...axis, size: gutter(this.#width), gap: 6, grid: { show: false }, splits: (_, __, ___, high) => [0, high >= 2 ? Math.floor(high / 1.08 + 0.001) : 1] },
      ],
      series: [
        {},
        { stroke: palette[curve.colour], width: 1.25, fill: `${palette[curve.colour]}26`, paths: stepped, points: { show: false } },
        ...(curve.key === "inUse" ? [{ stroke: palette.bad, width: 1, dash: [4, 3], points: { show: false } }] : []),
      ],
    };
  }
}
