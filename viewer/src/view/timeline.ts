// The time line: buttons, the track with its marks, and the curves under it.
import { seriesOf } from "../model/series";
import { timeWords } from "../model/words";
import type { Trace } from "../trace/trace";
import { Curves } from "./curves";
import { button, el, say } from "./dom";
import { type Palette, readPalette } from "./palette";
import { type Player, SPEEDS } from "./player";

export interface TimelineActions {
  toggle(): void;
  step(direction: 1 | -1): void;
  toStart(): void;
  toEnd(): void;
  toViolation(): void;
  seek(now: number): void;
  speed(speed: number): void;
  brush(range: readonly [number, number] | null): void;
}

/** Right of the track and the curves, in pixels. */
export const MARGIN = 14;

/** Left of them: names and numbers stand there, where there is room for both. */
export function gutter(width: number): number {
  return width > 760 ? 190 : 44;
}

export class Timeline {
  readonly element: HTMLElement;
  readonly #play = button("Play", { class: "play" });
  readonly #violation = button("Violation", { class: "bad-button", label: "Go to the violation" });
  readonly #end = button("End", { label: "To the end" });
  readonly #clock = el("output", { class: "clock", label: "Time" });
  readonly #place = el("span", { class: "place" });
  readonly #speed = el("select", { label: "Speed" });
  readonly #pace = el("label", { class: "speed" }, "speed ", this.#speed);
  readonly #track = el("canvas", { class: "track", attrs: { role: "slider", tabindex: "0", "aria-label": "Time", "aria-valuemin": "0" } });
  readonly #curves: Curves;
  readonly #actions: TimelineActions;
  #palette: Palette = readPalette();
  #trace: Trace | null = null;
  readonly #marks = document.createElement("canvas");
  #isStale = true;
  #brush: readonly [number, number] | null = null;
  #brushFrom: number | null = null;

  constructor(actions: TimelineActions) {
    this.#actions = actions;
    this.#curves = new Curves((now) => actions.seek(now));
    for (const speed of SPEEDS) this.#speed.append(el("option", { text: `${speed}×`, attrs: { value: String(speed) } }));
    this.#speed.value = "1";
    this.#speed.addEventListener("change", () => actions.speed(Number(this.#speed.value)));
    this.#play.addEventListener("click", actions.toggle);
    this.#violation.addEventListener("click", actions.toViolation);
    this.#end.addEventListener("click", actions.toEnd);
    const step = (text: string, label: string, direction: 1 | -1) => button(text, { label, attrs: { title: label }, onclick: () => actions.step(direction) });
    const bar = el("div", { class: "controls" },
      button("Start", { label: "To the start", onclick: actions.toStart }),
      step("‹", "One event back", -1), this.#play, step("›", "One event on", 1),
      this.#end, this.#pace, this.#violation,
      el("span", { class: "spring" }), this.#place, this.#clock);
    this.element = el("section", { class: "timeline", label: "Time line" }, el("div", { class: "transport" }, bar, this.#track), this.#curves.element);
    this.#listen();
  }

  #listen(): void {
    const track = this.#track;
    const time = (event: PointerEvent) => this.#timeAt(event.clientX - track.getBoundingClientRect().left);
    track.addEventListener("pointerdown", (event) => {
      track.setPointerCapture(event.pointerId);
      this.#brushFrom = event.shiftKey ? time(event) : null;
      if (event.shiftKey) this.#setBrush(null);
      else this.#actions.seek(time(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (!track.hasPointerCapture(event.pointerId)) return;
      if (this.#brushFrom === null) this.#actions.seek(time(event));
      else this.#setBrush([Math.min(this.#brushFrom, time(event)), Math.max(this.#brushFrom, time(event))]);
    });
    track.addEventListener("dblclick", () => this.#setBrush(null));
  }

  #setBrush(range: readonly [number, number] | null): void {
    this.#brush = range;
    this.#actions.brush(range);
  }

  #timeAt(x: number): number {
    const left = gutter(this.#track.clientWidth);
    const width = this.#track.clientWidth - left - MARGIN;
    return Math.max(0, Math.min(1, (x - left) / Math.max(width, 1))) * (this.#trace?.last ?? 0);
  }

  recolour(): void {
    this.#palette = readPalette();
    this.#curves.recolour();
    this.#isStale = true;
  }

  adopt(trace: Trace): void {
    this.#trace = trace;
    this.#brush = null;
    this.grown();
  }

  /** There are more lines than before. */
  grown(): void {
    if (!this.#trace) return;
    this.#isStale = true;
    const { k, neighbourhoods } = this.#trace.resource;
    this.#curves.show(seriesOf(this.#trace), k, Math.max(1, neighbourhoods.length));
    this.#violation.hidden = !this.#trace.end?.violation;
  }

  draw(player: Player, live: boolean): void {
    const trace = this.#trace;
    if (!trace) return;
    say(this.#play, player.playing || player.following ? "Pause" : "Play");
    // The run's own speed is among its controls.
    this.#pace.hidden = live && player.following;
    say(this.#end, live ? (player.following ? "Live" : "Go live") : "End");
    this.#end.classList.toggle("on", live && player.following);
    say(this.#clock, `${timeWords(player.now)} / ${timeWords(trace.last)}`);
    say(this.#place, `line ${(player.index + 2).toLocaleString("en-GB")} of ${(trace.length + 1).toLocaleString("en-GB")}`);
    if (this.#speed.value !== String(player.speed)) this.#speed.value = String(player.speed);
    this.#track.setAttribute("aria-valuemax", (trace.last / 1e9).toFixed(3));
    this.#track.setAttribute("aria-valuenow", (player.now / 1e9).toFixed(3));
    this.#curves.mark(player.now, valuesAt(trace, player.index));
    this.#drawTrack(trace, player.now);
  }

  #drawTrack(trace: Trace, now: number): void {
    const canvas = this.#track;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (wide === 0 || high === 0) return;
    if (canvas.width !== wide || canvas.height !== high) {
      [canvas.width, canvas.height] = [wide, high];
      this.#isStale = true;
    }
    const left = gutter(width);
    const span = width - left - MARGIN;
    if (this.#isStale) this.#drawMarks(trace, span, height, ratio);
    const x = (t: number) => left + (t / Math.max(trace.last, 1)) * span;
    const pen = canvas.getContext("2d")!;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, wide, high);
    pen.drawImage(this.#marks, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.#brush) {
      pen.fillStyle = this.#palette.accent;
      pen.globalAlpha = 0.2;
      pen.fillRect(x(this.#brush[0]), 2, Math.max(1, x(this.#brush[1]) - x(this.#brush[0])), height - 4);
      pen.globalAlpha = 1;
    }
    this.#drawHandle(pen, x(now), height);
  }

  /**
   * What stays while time passes, drawn once. Every grant is a tick; where there are more than pixels, a darker one.
   */
  #drawMarks(trace: Trace, span: number, height: number, ratio: number): void {
    this.#isStale = false;
    [this.#marks.width, this.#marks.height] = [this.#track.width, this.#track.height];
    const pen = this.#marks.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const left = gutter(this.#track.clientWidth);
    pen.fillStyle = this.#palette.soft;
    pen.font = "11px ui-sans-serif, system-ui, sans-serif";
    pen.textBaseline = "middle";
    if (left > 100) pen.fillText("grants", 14, height / 2 + 0.5);
    pen.fillStyle = this.#palette.line;
    pen.fillRect(left, Math.round(height / 2), span, 1);
    const counts = ticks(trace, Math.max(1, Math.floor(span)));
    const most = counts.reduce((most, count) => Math.max(most, count), 1);
    pen.fillStyle = this.#palette.critical;
    counts.forEach((count, at) => {
      if (count === 0) return;
      pen.globalAlpha = 0.35 + 0.65 * (count / most);
      pen.fillRect(left + at, height / 2 - 5, 1, 10);
    });
    pen.globalAlpha = 1;
    if (trace.end?.violation) this.#drawViolation(pen, left + ((trace.end.t ?? trace.last) / Math.max(trace.last, 1)) * span, height);
  }

  #drawViolation(pen: CanvasRenderingContext2D, x: number, height: number): void {
    pen.fillStyle = this.#palette.bad;
    pen.fillRect(x - 1, 0, 2, height);
    pen.beginPath();
    pen.moveTo(x - 6, 0);
    pen.lineTo(x + 6, 0);
    pen.lineTo(x, 8);
    pen.fill();
  }

  #drawHandle(pen: CanvasRenderingContext2D, x: number, height: number): void {
    pen.fillStyle = this.#palette.ink;
    pen.fillRect(x - 0.75, 0, 1.5, height);
    pen.beginPath();
    pen.arc(x, height / 2, 5.5, 0, 2 * Math.PI);
    pen.fill();
    pen.beginPath();
    pen.arc(x, height / 2, 2.2, 0, 2 * Math.PI);
    pen.fillStyle = this.#palette.paper;
    pen.fill();
  }
}

function valuesAt(trace: Trace, index: number): readonly number[] {
  return index < 0 ? [0, 0, 0] : [trace.waiting.at(index), trace.inUse.at(index), trace.inFlight.at(index)];
}

function ticks(trace: Trace, columns: number): Float64Array {
  const counts = new Float64Array(columns);
  for (let at = 0; at < trace.grants.length; at++) {
    const share = trace.t.at(trace.grants.at(at)) / Math.max(trace.last, 1);
    counts[Math.min(columns - 1, Math.floor(share * columns))]++;
  }
  return counts;
}
