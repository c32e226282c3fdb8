// Reads along with the page what a demo sends, so that a test knows where on the map things are.
import type { Page } from "playwright-core";
import { BOTH_ENDS, type State } from "../../src/model/state";
import { Trace, headerOf } from "../../src/trace/trace";
import { Camera } from "../../src/view/camera";
import { extent } from "../../src/view/scene";
import { drawn, eventually, text } from "./browser";

export class Watcher {
  trace: Trace | null = null;
  readonly refused: string[] = [];
  readonly #page: Page;
  /** The last two instants that the run told, since it last told its settings. */
  #instants: readonly number[] = [];

  /** Has to be there before the page loads. */
  constructor(page: Page) {
    this.#page = page;
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => String(payload).split("\n").forEach((line) => this.#hear(line))));
  }

  #hear(line: string): void {
    const raw = { bytes: new TextEncoder().encode(line), tooLong: false };
    if (line.startsWith('{"format"')) this.trace = new Trace(headerOf(raw));
    else if (line.startsWith('{"refused"')) this.refused.push(line);
    else if (line.startsWith('{"demo"')) this.#instants = [];
    else this.trace?.append(raw);
    if (line.startsWith('{"now"')) this.#instants = [...this.#instants.slice(-1), this.trace!.last];
  }

  /** Holds the clock, so that everything stays where it is: a pointer gets there when the machine has time for it. */
  async hold(): Promise<void> {
    const page = this.#page;
    await page.getByRole("button", { name: "Hold the clock" }).click();
    await page.getByRole("button", { name: "Let the clock go" }).waitFor();
    await eventually("the clock stands", () => this.#instants.length === 2 && this.#instants[0] === this.#instants[1]);
    await this.caughtUp();
  }

  /** Until the page, while the clock is held, shows all that has been done. */
  async caughtUp(): Promise<void> {
    await eventually("the page shows the last line", async () => {
      const lines = (this.trace!.length + 1).toLocaleString("en-GB");
      return (await text(this.#page, ".place")) === `line ${lines} of ${lines}`;
    });
    await drawn(this.#page);
  }

  async letGo(): Promise<void> {
    await this.#page.getByRole("button", { name: "Let the clock go" }).click();
    await this.#page.getByRole("button", { name: "Hold the clock" }).waitFor();
  }

  get state(): State {
    return this.trace!.stateAt(this.trace!.length - 1);
  }

  /** Where a place of the field is on the screen. */
  async pixelOf([x, y]: readonly [number, number]): Promise<{ x: number; y: number }> {
    const box = (await this.#page.locator(".map-canvas").boundingBox())!;
    const camera = new Camera();
    camera.resize(box.width, box.height);
    camera.fit(extent(this.trace!));
    return { x: box.x + camera.screenX(x), y: box.y + camera.screenY(y) };
  }

  async pixel(node: number): Promise<{ x: number; y: number }> {
    return this.pixelOf(this.state.placeOf(node, this.trace!.last)!);
  }

  /** Links that are there, the longest first. */
  links(): (readonly [number, number])[] {
    const { trace, state } = this;
    const { from, to } = trace!.table;
    const length = ([a, b]: readonly [number, number]) => {
      const [one, other] = [state.placeOf(a, trace!.last)!, state.placeOf(b, trace!.last)!];
      return Math.hypot(one[0] - other[0], one[1] - other[1]);
    };
    const there = state.links.flatMap((ends, slot) => (ends === BOTH_ENDS ? [[from[slot], to[slot]] as const] : []));
    return there.sort((a, b) => length(b) - length(a));
  }
}
