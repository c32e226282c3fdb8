// The map: a canvas that shows one instant, and what a pointer can do with it.
import { Areas } from "../model/areas";
import { layOut, placeBeside } from "../model/layout";
import { type State, cutsOf } from "../model/state";
import type { Why } from "../model/why";
import type { Point } from "../trace/record";
import type { Trace } from "../trace/trace";
import { Camera } from "./camera";
import { el } from "./dom";
import { drawCuts, drawDoubted, drawDoubts, drawFlights, drawLinks, drawRoutes, drawWhy } from "./draw";
import { areasOf, drawAreas, drawFault, drawField, drawRange } from "./draw-ground";
import { drawNodes } from "./draw-nodes";
import { drawGrants, drawHops } from "./draw-recent";
import { Pointers } from "./map-pointers";
import { type Palette, readPalette } from "./palette";
import { type Layout, type Scene, extent, isPlaced, project, radiusOf } from "./scene";

/** What the map tells the page. */
export interface MapActions {
  changed(): void;
  select(node: number | null): void;
  /** Takes a node into the chart, or out of it. */
  gather(node: number): void;
  selectLink(ends: readonly [number, number] | null): void;
  hover(node: number | null): void;
  /** Whether nodes can be moved by hand. */
  canDrag(): boolean;
  drag(node: number, to: Point): void;
  jam(centre: Point, radius: number): void;
}

export interface Shown {
  readonly trace: Trace;
  readonly state: State;
  readonly now: number;
  readonly glow: number;
  readonly selected: number | null;
  readonly selectedLink: readonly [number, number] | null;
  readonly why: Why | null;
  readonly current: number | null;
}

export class MapView {
  readonly canvas = el("canvas", { class: "map-canvas", label: "Map of the nodes", attrs: { role: "img", tabindex: "0" } });
  readonly camera = new Camera();
  hovered: number | null = null;
  jamming = false;
  /** The circle that is being drawn with the jam tool. */
  circle: { readonly centre: Point; readonly radius: number } | null = null;
  readonly #pen: CanvasRenderingContext2D;
  #palette: Palette;
  #trace: Trace | null = null;
  #resource = 0;
  #layout: Layout = { places: [], areas: null };
  #areas: readonly (readonly Point[])[] = [];
  #x = new Float64Array(0);
  #y = new Float64Array(0);
  #aspect = 1;
  #radius = 8;
  #shown: Shown | null = null;
  #box = "";

  constructor(actions: MapActions) {
    this.#pen = this.canvas.getContext("2d")!;
    this.#palette = readPalette();
    new Pointers(this, actions);
    new ResizeObserver(() => {
      this.#resize();
      actions.changed();
    }).observe(this.canvas);
  }

  recolour(): void {
    this.#palette = readPalette();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    this.camera.resize(Math.max(1, clientWidth), Math.max(1, clientHeight));
  }

  fit(): void {
    if (this.#trace) this.camera.fit(extent(this.#trace, this.#aspect));
  }

  draw(shown: Shown): void {
    this.#adopt(shown.trace);
    this.#shown = shown;
    const { state, now, trace } = shown;
    project(trace, state, now, this.camera, this.#layout, this.#aspect, this.#x, this.#y);
    const { areas } = this.#layout;
    this.#radius = radiusOf(areas ? areas.seats * areas.corners.length : state.nodes.length, this.camera, extent(trace, this.#aspect));
    const ratio = this.canvas.width / this.camera.width;
    this.#pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#pen.clearRect(0, 0, this.camera.width, this.camera.height);
    this.#paint(shown);
  }

  #paint(shown: Shown): void {
    const [pen, palette, { state, trace }] = [this.#pen, this.#palette, shown];
    const { field } = trace.header;
    const scene: Scene = { ...shown, x: this.#x, y: this.#y, radius: this.#radius, width: this.camera.width, height: this.camera.height, hovered: this.hovered };
    if (field) drawField(pen, field, this.camera, palette);
    drawAreas(pen, scene, this.camera, this.#areas, palette);
    for (const fault of state.faults.values()) drawFault(pen, fault, this.camera, palette);
    if (this.circle) drawFault(pen, { kind: "jam", node: null, ends: null, loss: null, shape: { form: "disc", ...this.circle } }, this.camera, palette);
    const pointed = this.hovered ?? shown.selected;
    if (pointed !== null && field?.range && pointed < state.nodes.length) {
      drawRange(pen, this.#x[pointed], this.#y[pointed], field.range * this.camera.scale, palette);
    }
    drawRoutes(pen, scene, palette);
    drawWhy(pen, scene, palette);
    drawLinks(pen, scene, palette);
    this.#drawSelectedLink(shown);
    drawHops(pen, scene, palette);
    drawCuts(pen, scene, palette);
    drawDoubts(pen, scene, palette);
    drawNodes(pen, scene, palette);
    drawDoubted(pen, scene, palette);
    drawGrants(pen, scene, palette);
    drawFlights(pen, scene, palette);
  }

  #drawSelectedLink(shown: Shown): void {
    if (!shown.selectedLink) return;
    const [a, b] = shown.selectedLink;
    this.#pen.beginPath();
    this.#pen.moveTo(this.#x[a], this.#y[a]);
    this.#pen.lineTo(this.#x[b], this.#y[b]);
    this.#pen.strokeStyle = this.#palette.accent;
    this.#pen.lineWidth = 3;
    this.#pen.stroke();
  }

  /** A new trace has places of its own; a trace that grows may need more room. */
  #adopt(trace: Trace): void {
    if (this.#trace !== trace || this.#resource !== trace.shown) {
      this.#trace = trace;
      this.#resource = trace.shown;
      // As wide as the window is now; it stays so, whatever becomes of the window.
      this.#aspect = Math.max(0.7, Math.min(1.6, (this.camera.width - 80) / Math.max(this.camera.height - 80, 1)));
      this.#layout = layoutOf(trace, this.#aspect);
      this.#areas = trace.header.field ? areasOf(trace.header.field) : (this.#layout.areas?.corners ?? []);
      this.hovered = null;
      this.#box = "";
    }
    this.#makeRoom(trace);
    const box = extent(trace, this.#aspect);
    const name = `${box.left} ${box.top} ${box.right} ${box.bottom}`;
    if (name === this.#box) return;
    this.#box = name;
    this.camera.fit(box);
  }

  /** For nodes that have joined. */
  #makeRoom(trace: Trace): void {
    const { size } = trace.roster;
    const { places, areas } = this.#layout;
    if (this.#x.length !== size) [this.#x, this.#y] = [new Float64Array(size), new Float64Array(size)];
    if (isPlaced(trace) || areas || places.length === size) return;
    const more = [...places];
    while (more.length < size) more.push(placeBeside(more, this.#aspect));
    this.#layout = { places: more, areas };
  }

  /** The node under a pixel, or so many pixels beside it: a finger is not a mouse. */
  nodeAt(x: number, y: number, slack = 4): number | null {
    const reach = Math.max(this.#radius + slack, 11);
    let [best, nearest] = [null as number | null, reach * reach];
    const there = this.#shown?.state.nodes.length ?? 0;
    for (let id = 0; id < there; id++) {
      const distance = (this.#x[id] - x) ** 2 + (this.#y[id] - y) ** 2;
      if (distance < nearest) [best, nearest] = [id, distance];
    }
    return best;
  }

  /** The link under a pixel: one that is there, or that somebody has cut. */
  linkAt(x: number, y: number, slack = 4): readonly [number, number] | null {
    if (!this.#shown) return null;
    const { state, trace } = this.#shown;
    let [best, nearest] = [null as readonly [number, number] | null, slack + 3];
    const consider = (a: number, b: number) => {
      const distance = toSegment(x, y, this.#x[a], this.#y[a], this.#x[b], this.#y[b]);
      if (distance < nearest) [best, nearest] = [[a, b], distance];
    };
    for (const [a, b] of cutsOf(state)) consider(a, b);
    state.links.forEach((ends, slot) => ends > 0 && consider(trace.table.from[slot], trace.table.to[slot]));
    return best;
  }

  /** Where a node is on the canvas, for what is shown beside it. */
  pixel(id: number): Point {
    return [this.#x[id], this.#y[id]];
  }
}

/** Where the nodes of a trace are drawn, if it does not say where they are. */
function layoutOf(trace: Trace, aspect: number): Layout {
  const { length } = trace.resource.neighbourhoods;
  if (isPlaced(trace)) return { places: [], areas: null };
  if (length > 1) return { places: [], areas: new Areas(length, trace.header.nodes, aspect) };
  return { places: layOut(trace.header, aspect), areas: null };
}

function toSegment(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy || 1;
  const share = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / square));
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}
