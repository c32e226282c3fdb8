// Mouse, finger and pen on the map: select, pan, zoom, pinch, drag a node, draw a jammed area.
import type { Point } from "../trace/record";
import type { MapActions, MapView } from "./map";

/** Pixels; less is a click. */
const DRAG_MIN = 4;
/** Milliseconds between two places of a node that is dragged. */
const DRAG_PAUSE = 60;

export class Pointers {
  readonly #map: MapView;
  readonly #actions: MapActions;
  readonly #down = new Map<number, Point>();
  #start: Point = [0, 0];
  #moved = false;
  #dragged: number | null = null;
  #told = 0;

  constructor(map: MapView, actions: MapActions) {
    this.#map = map;
    this.#actions = actions;
    const { canvas } = map;
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", (event) => this.#cancel(event));
    canvas.addEventListener("pointerleave", () => this.#hover(null));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("dblclick", () => {
      map.fit();
      actions.changed();
    });
  }

  #at(event: MouseEvent): Point {
    const box = this.#map.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #press(event: PointerEvent): void {
    this.#map.canvas.setPointerCapture(event.pointerId);
    const at = this.#at(event);
    this.#down.set(event.pointerId, at);
    this.#start = at;
    this.#moved = false;
    this.#dragged = this.#down.size === 1 && this.#actions.canDrag() && !this.#map.jamming ? this.#map.nodeAt(...at, slackOf(event)) : null;
  }

  #move(event: PointerEvent): void {
    const at = this.#at(event);
    const before = this.#down.get(event.pointerId);
    if (!before) return this.#hover(this.#map.nodeAt(...at));
    if (Math.hypot(at[0] - this.#start[0], at[1] - this.#start[1]) > DRAG_MIN) this.#moved = true;
    if (this.#down.size === 2) this.#pinch(event.pointerId, before, at);
    else if (this.#moved) this.#drag(before, at);
    this.#down.set(event.pointerId, at);
    this.#actions.changed();
  }

  #drag(before: Point, at: Point): void {
    const { camera } = this.#map;
    if (this.#map.jamming) {
      const centre = camera.world(...this.#start);
      this.#map.circle = { centre, radius: Math.hypot(at[0] - this.#start[0], at[1] - this.#start[1]) / camera.scale };
    } else if (this.#dragged !== null) {
      if (performance.now() - this.#told < DRAG_PAUSE) return;
      this.#told = performance.now();
      this.#actions.drag(this.#dragged, camera.world(...at));
    } else {
      camera.pan(at[0] - before[0], at[1] - before[1]);
    }
  }

  #pinch(moved: number, before: Point, at: Point): void {
    const other = [...this.#down].find(([pointer]) => pointer !== moved)?.[1];
    if (!other) return;
    this.#moved = true;
    const spread = (point: Point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    this.#map.camera.zoomAt((at[0] + other[0]) / 2, (at[1] + other[1]) / 2, spread(at) / spread(before));
  }

  #release(event: PointerEvent): void {
    const at = this.#at(event);
    this.#down.delete(event.pointerId);
    if (this.#map.circle) {
      this.#actions.jam(this.#map.circle.centre, this.#map.circle.radius);
      this.#map.circle = null;
    } else if (this.#dragged !== null && this.#moved) {
      this.#actions.drag(this.#dragged, this.#map.camera.world(...at));
    } else if (!this.#moved && this.#down.size === 0) {
      this.#click(at, event.shiftKey, slackOf(event));
    }
    this.#dragged = null;
    this.#actions.changed();
  }

  #cancel(event: PointerEvent): void {
    this.#down.delete(event.pointerId);
    this.#map.circle = null;
    this.#dragged = null;
  }

  #click(at: Point, gathers: boolean, slack: number): void {
    const node = this.#map.nodeAt(...at, slack);
    if (node !== null && gathers) this.#actions.gather(node);
    else if (node === null) this.#actions.selectLink(this.#map.linkAt(...at, slack));
    else this.#actions.select(node);
  }

  #hover(node: number | null): void {
    if (this.#map.hovered === node) return;
    this.#map.hovered = node;
    this.#actions.hover(node);
    this.#actions.changed();
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    this.#map.camera.zoomAt(...this.#at(event), Math.exp(-event.deltaY * 0.0015));
    this.#actions.changed();
  }
}

/** Pixels by which one may miss. */
function slackOf(event: PointerEvent): number {
  return event.pointerType === "touch" ? 10 : 4;
}
