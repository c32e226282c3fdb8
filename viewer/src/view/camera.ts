// From metres to pixels and back.
import type { Point } from "../trace/record";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const ZOOM_MAX = 200;

export class Camera {
  width = 1;
  height = 1;
  #scale = 1;
  #x = 0;
  #y = 0;
  #fitted = 1;
  /** Until somebody zooms or pans, the whole field stays in sight whatever the size of the window. */
  #touched = false;
  #box: Box = { left: 0, top: 0, right: 1000, bottom: 1000 };

  get scale(): number {
    return this.#scale;
  }

  get zoom(): number {
    return this.#scale / this.#fitted;
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    if (!this.#touched) this.fit(this.#box);
  }

  fit(box: Box): void {
    this.#box = box;
    this.#touched = false;
    const margin = Math.min(34, this.width / 12);
    const wide = Math.max(box.right - box.left, 1e-6);
    const high = Math.max(box.bottom - box.top, 1e-6);
    this.#scale = Math.max(1e-9, Math.min((this.width - 2 * margin) / wide, (this.height - 2 * margin) / high));
    this.#fitted = this.#scale;
    this.#x = this.width / 2 - ((box.left + box.right) / 2) * this.#scale;
    this.#y = this.height / 2 - ((box.top + box.bottom) / 2) * this.#scale;
  }

  screenX(x: number): number {
    return x * this.#scale + this.#x;
  }

  screenY(y: number): number {
    return y * this.#scale + this.#y;
  }

  world(x: number, y: number): Point {
    return [(x - this.#x) / this.#scale, (y - this.#y) / this.#scale];
  }

  pan(dx: number, dy: number): void {
    this.#touched = true;
    this.#x += dx;
    this.#y += dy;
  }

  /** Larger or smaller, with what is under this pixel staying there. */
  zoomAt(x: number, y: number, factor: number): void {
    this.#touched = true;
    const scale = Math.max(this.#fitted / 4, Math.min(this.#fitted * ZOOM_MAX, this.#scale * factor));
    const by = scale / this.#scale;
    this.#x = x - (x - this.#x) * by;
    this.#y = y - (y - this.#y) * by;
    this.#scale = scale;
  }
}
