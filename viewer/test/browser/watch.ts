// Reads along with the page what a demo sends, so that a test knows where on the map things are.
import type { Page } from "playwright-core";
import { BOTH_ENDS, type State } from "../../src/model/state";
import { Trace, headerOf } from "../../src/trace/trace";
import { Camera } from "../../src/view/camera";
import { extent } from "../../src/view/scene";

export class Watcher {
  trace: Trace | null = null;
  readonly refused: string[] = [];
  readonly #page: Page;

  /** Has to be there before the page loads. */
  constructor(page: Page) {
    this.#page = page;
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => String(payload).split("\n").forEach((line) => this.#hear(line))));
  }

  #hear(line: string): void {
    const raw = { bytes: new TextEncoder().encode(line), tooLong: false };
    if (line.startsWith('{"format"')) this.trace = new Trace(headerOf(raw));
    else if (line.startsWith('{"refused"')) this.refused.push(line);
    else if (!line.startsWith('{"demo"')) this.trace?.append(raw);
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
