// The map's strokes. What looks the same is one path: a thousand nodes with their links are a handful of calls.
import { BOTH_ENDS, type State, compareHeights, cutsOf, fromPair, pairOf } from "../model/state";
import type { Palette } from "./palette";
import { type Scene, progress } from "./scene";

type Pen = CanvasRenderingContext2D;

/** Hops of a route: routes of different times can run in a circle. */
const HOPS_MAX = 64;
/** Messages that are drawn; more are a cloud anyway. */
const FLIGHTS_DRAWN_MAX = 4000;
/** Links that are drawn: more are a grey plane that takes seconds. */
const LINKS_DRAWN_MAX = 30_000;
/** Shorter links than this, in pixels, have no room for an arrow. */
const ARROW_MIN = 26;
/**
 * Of more links than this only those of the node that is pointed at have arrows: the others could not be told apart.
 */
const ARROWS_MAX = 1200;
/** Of more than these the arrows are small: one looks at nodes and tokens first. */
const MANY = 30;
/** Links in one path: a path of thousands is slower to fill than many of some. */
const SEGMENTS = 64;

export function drawLinks(pen: Pen, scene: Scene, palette: Palette): void {
  const { state, trace } = scene;
  const { from, to } = trace.table;
  const seen: number[] = [];
  const halves: number[] = [];
  for (let slot = 0; slot < state.links.length && seen.length < LINKS_DRAWN_MAX; slot++) {
    if (!state.links[slot] || !isInSight(scene, from[slot], to[slot])) continue;
    if (state.links[slot] === BOTH_ENDS) seen.push(slot);
    else halves.push(slot);
  }
  pen.strokeStyle = palette.link;
  pen.lineWidth = seen.length > 2000 ? 0.7 : 1;
  strokeLinks(pen, seen, scene);
  // Only one end knows of it.
  pen.setLineDash([2, 4]);
  strokeLinks(pen, halves, scene);
  pen.setLineDash([]);
  const heads = (slots: readonly number[]) => slots.flatMap((slot) => direction(state, from[slot], to[slot]) ?? []);
  const pointed = seen.filter((slot) => isPointedAt(scene, from[slot], to[slot]));
  const size = Math.max(2.4, Math.min(5.2, scene.radius * 0.42));
  pen.fillStyle = palette.arrow;
  if (seen.length <= ARROWS_MAX) arrowHeads(pen, heads(seen), scene, seen.length > MANY ? size * 0.7 : size);
  pen.strokeStyle = pen.fillStyle = palette.soft;
  pen.lineWidth = 1.2;
  strokeLinks(pen, pointed, scene);
  arrowHeads(pen, heads(pointed), scene, size);
}

/** Links of the node that is selected or pointed at are the ones that one wants to follow. */
function isPointedAt({ hovered, selected }: Scene, a: number, b: number): boolean {
  return a === hovered || b === hovered || a === selected || b === selected;
}

function strokeLinks(pen: Pen, slots: readonly number[], scene: Scene): void {
  const { x, y } = scene;
  const { from, to } = scene.trace.table;
  for (let start = 0; start < slots.length; start += SEGMENTS) {
    pen.beginPath();
    for (const slot of slots.slice(start, start + SEGMENTS)) {
      pen.moveTo(x[from[slot]], y[from[slot]]);
      pen.lineTo(x[to[slot]], y[to[slot]]);
    }
    pen.stroke();
  }
}

function isInSight(scene: Scene, a: number, b: number): boolean {
  const { x, y, width, height } = scene;
  return !((x[a] < 0 && x[b] < 0) || (y[a] < 0 && y[b] < 0) || (x[a] > width && x[b] > width) || (y[a] > height && y[b] > height));
}

/** From the higher to the lower end, where the algorithm has heights. */
function direction(state: State, a: number, b: number): (readonly [number, number])[] | null {
  const [one, other] = [state.nodes[a].height, state.nodes[b].height];
  if (!one || !other) return null;
  return [compareHeights(one, other) > 0 ? [a, b] : [b, a]];
}

/** A little beyond the middle, where neither the node nor its tokens cover them. */
function arrowHeads(pen: Pen, heads: readonly (readonly [number, number])[], scene: Scene, size: number): void {
  const { x, y } = scene;
  pen.beginPath();
  heads.forEach(([from, to], at) => {
    const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
    const length = Math.hypot(dx, dy);
    if (length < ARROW_MIN) return;
    const [ux, uy] = [dx / length, dy / length];
    const [tipX, tipY] = [x[from] + dx * 0.58 + ux * size, y[from] + dy * 0.58 + uy * size];
    pen.moveTo(tipX, tipY);
    pen.lineTo(tipX - ux * size * 2 - uy * size * 0.8, tipY - uy * size * 2 + ux * size * 0.8);
    pen.lineTo(tipX - ux * size * 2 + uy * size * 0.8, tipY - uy * size * 2 - ux * size * 0.8);
    if (at % SEGMENTS !== SEGMENTS - 1) return;
    pen.fill();
    pen.beginPath();
  });
  pen.fill();
}

/** Two that somebody has cut off from each other: a dashed line with a bar across. */
export function drawCuts(pen: Pen, scene: Scene, palette: Palette): void {
  const { x, y } = scene;
  pen.strokeStyle = palette.fault;
  for (const [a, b] of cutsOf(scene.state)) {
    const [dx, dy] = [x[b] - x[a], y[b] - y[a]];
    const length = Math.hypot(dx, dy) || 1;
    const [midX, midY] = [x[a] + dx / 2, y[a] + dy / 2];
    const [barX, barY] = [(-dy / length) * 9, (dx / length) * 9];
    pen.beginPath();
    pen.moveTo(x[a], y[a]);
    pen.lineTo(x[b], y[b]);
    pen.lineWidth = 1.5;
    pen.setLineDash([6, 5]);
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(midX - barX, midY - barY);
    pen.lineTo(midX + barX, midY + barY);
    pen.lineWidth = 3;
    pen.stroke();
  }
}

export function drawDoubts(pen: Pen, scene: Scene, palette: Palette): void {
  if (scene.state.doubts.size === 0) return;
  pen.beginPath();
  for (const pair of scene.state.doubts.keys()) {
    const [a, b] = fromPair(pair);
    pen.moveTo(scene.x[a], scene.y[a]);
    pen.lineTo(scene.x[b], scene.y[b]);
  }
  pen.setLineDash([5, 4]);
  pen.strokeStyle = palette.doubt;
  pen.lineWidth = 1.6;
  pen.stroke();
  pen.setLineDash([]);
}

/** The units of a token in doubt are between the two: neither has them. */
export function drawDoubted(pen: Pen, scene: Scene, palette: Palette): void {
  for (const [pair, permits] of scene.state.doubts) {
    const [a, b] = fromPair(pair);
    const [x, y] = [(scene.x[a] + scene.x[b]) / 2, (scene.y[a] + scene.y[b]) / 2];
    drawToken(pen, x, y, permits, scene.radius, palette, true);
    pen.beginPath();
    pen.arc(x, y, scene.radius * 0.62 + 3, 0, 2 * Math.PI);
    pen.setLineDash([3, 2]);
    pen.strokeStyle = palette.doubt;
    pen.lineWidth = 1.6;
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** From hop to hop, as far as those on the way know one. */
function hopsTo(state: State, from: number, to: number): (readonly [number, number])[] {
  const hops: (readonly [number, number])[] = [];
  for (let at = from; at !== to && hops.length < HOPS_MAX; ) {
    const next = state.routes[at]?.get(to);
    if (next === undefined) break;
    hops.push([at, next]);
    at = next;
  }
  return hops;
}

/** The ways of messages from the selected node; that a neighbour is reached directly goes without saying. */
export function drawRoutes(pen: Pen, scene: Scene, palette: Palette): void {
  const at = scene.selected;
  const routes = at === null ? undefined : scene.state.routes[at];
  if (at === null || !routes) return;
  pen.beginPath();
  const drawn = new Set<number>();
  for (const [to, via] of routes) {
    if (to === via) continue;
    for (const [from, next] of hopsTo(scene.state, at, to)) {
      if (drawn.has(pairOf(from, next))) continue;
      drawn.add(pairOf(from, next));
      pen.moveTo(scene.x[from], scene.y[from]);
      pen.lineTo(scene.x[next], scene.y[next]);
    }
  }
  pen.strokeStyle = palette.accent;
  pen.globalAlpha = 0.45;
  pen.lineWidth = 4;
  pen.stroke();
  pen.globalAlpha = 1;
}

export function drawWhy(pen: Pen, scene: Scene, palette: Palette): void {
  const { why, x, y } = scene;
  if (!why) return;
  pen.beginPath();
  why.path.forEach((id, at) => (at === 0 ? pen.moveTo(x[id], y[id]) : pen.lineTo(x[id], y[id])));
  if (why.ending === "deadlock") {
    const back = scene.state.nodes[why.path[why.path.length - 1]].waitsOn[0];
    if (back !== undefined) pen.lineTo(x[back], y[back]);
  }
  pen.strokeStyle = why.ending === "deadlock" || why.ending === "lost" ? palette.bad : palette.waiting;
  pen.globalAlpha = 0.4;
  pen.lineWidth = 8;
  pen.lineCap = "round";
  pen.lineJoin = "round";
  pen.stroke();
  pen.globalAlpha = 1;
}

export function drawFlights(pen: Pen, scene: Scene, palette: Palette): void {
  const { state, trace, now, x, y } = scene;
  const size = Math.max(1.8, scene.radius * 0.24);
  const tokens: { x: number; y: number; backX: number; backY: number; permits: readonly number[] }[] = [];
  let drawn = 0;
  pen.beginPath();
  for (const flights of state.flights.values()) {
    for (const flight of flights) {
      const share = progress(trace, flight, now);
      const [fromX, fromY] = [x[flight.from], y[flight.from]];
      const [dx, dy] = [x[flight.to] - fromX, y[flight.to] - fromY];
      const length = Math.hypot(dx, dy) || 1;
      // From rim to rim, and beside the line, so that two who cross are told apart.
      const rim = Math.min(scene.radius * 1.7, length * 0.4);
      const along = rim + share * (length - 2 * rim);
      const aside = Math.min(5, scene.radius * 0.45);
      const atX = fromX + (dx * along - dy * aside) / length;
      const atY = fromY + (dy * along + dx * aside) / length;
      if (flight.content.carriesUnits) {
        const back = Math.min(scene.radius * 4, share * (length - 2 * rim));
        tokens.push({ x: atX, y: atY, backX: atX - (dx / length) * back, backY: atY - (dy / length) * back, permits: flight.content.permits });
      } else if (drawn++ < FLIGHTS_DRAWN_MAX) {
        pen.moveTo(atX + size, atY);
        pen.arc(atX, atY, size, 0, 2 * Math.PI);
      }
    }
  }
  pen.fillStyle = palette.soft;
  pen.fill();
  for (const token of tokens.slice(0, FLIGHTS_DRAWN_MAX)) {
    if (scene.radius > 4) drawTrail(pen, token, scene.radius, palette);
    drawToken(pen, token.x, token.y, token.permits, scene.radius * 1.2, palette, true);
  }
}

/** Where a token under way comes from. */
function drawTrail(pen: Pen, token: { readonly x: number; readonly y: number; readonly backX: number; readonly backY: number }, radius: number, palette: Palette): void {
  const fade = pen.createLinearGradient(token.backX, token.backY, token.x, token.y);
  fade.addColorStop(0, `${palette.trail}00`);
  fade.addColorStop(1, palette.trail);
  pen.strokeStyle = fade;
  pen.lineWidth = radius * 0.8;
  pen.beginPath();
  pen.moveTo(token.backX, token.backY);
  pen.lineTo(token.x, token.y);
  pen.stroke();
}

/** A disc with the number of its unit; a ring says that it is not in use. */
export function drawToken(pen: Pen, x: number, y: number, permits: readonly number[], radius: number, palette: Palette, idle: boolean): void {
  const size = Math.max(2.3, radius * 0.62);
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.fillStyle = palette.token;
  pen.fill();
  pen.lineWidth = radius < 5 ? 0.8 : idle ? 1.6 : 1;
  pen.strokeStyle = idle ? palette["token-ink"] : palette.paper;
  pen.stroke();
  if (size < 6) return;
  const text = permits.length === 0 ? "·" : permits.length === 1 ? String(permits[0]) : `×${permits.length}`;
  pen.fillStyle = palette["token-ink"];
  pen.font = `600 ${Math.round(size * (text.length > 1 ? 1.05 : 1.3))}px ui-sans-serif, system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, x, y + 0.5);
}
