// What lies under the nodes: the field, its neighbourhoods, and faults that have a place.
import type { Fault, Field, Point } from "../trace/record";
import type { Camera } from "./camera";
import type { Palette } from "./palette";
import type { Scene } from "./scene";
import { inUseByArea } from "../model/state";

type Pen = CanvasRenderingContext2D;

/** More sites than this have no areas drawn. */
const SITES_MAX = 200;

export function drawField(pen: Pen, field: Field, camera: Camera, palette: Palette): void {
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  pen.strokeRect(camera.screenX(field.origin[0]), camera.screenY(field.origin[1]), field.width * camera.scale, field.height * camera.scale);
  pen.fillStyle = palette.faint;
  if (field.sites.length > SITES_MAX) return;
  for (const [x, y] of field.sites) {
    pen.fillRect(camera.screenX(x) - 3, camera.screenY(y) - 0.5, 7, 1);
    pen.fillRect(camera.screenX(x) - 0.5, camera.screenY(y) - 3, 1, 7);
  }
}

/** The neighbourhoods; where there are several, with what is in use in each. */
export function drawAreas(pen: Pen, scene: Scene, camera: Camera, areas: readonly (readonly Point[])[], palette: Palette): void {
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  areas.forEach((area, at) => {
    tracePath(pen, area, camera);
    pen.fillStyle = palette.area;
    pen.globalAlpha = at % 2 === 0 ? 0.55 : 0.25;
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
  });
  const { state } = scene;
  const { k, neighbourhoods } = state.resource;
  if (neighbourhoods.length < 2) return;
  const inUse = inUseByArea(state);
  pen.textAlign = "left";
  pen.textBaseline = "top";
  areas.slice(0, neighbourhoods.length).forEach((area, at) => {
    const [left, top] = [leastOf(area, 0), leastOf(area, 1)];
    pen.fillStyle = inUse[at] > k ? palette.bad : palette.soft;
    pen.font = "600 11px ui-sans-serif, system-ui, sans-serif";
    pen.fillText(`neighbourhood ${at}`, camera.screenX(left) + 8, camera.screenY(top) + 7);
    pen.font = "11px ui-sans-serif, system-ui, sans-serif";
    pen.fillText(`${inUse[at]} of ${k.toLocaleString("en-GB")} in use`, camera.screenX(left) + 8, camera.screenY(top) + 21);
  });
}

function leastOf(corners: readonly Point[], axis: 0 | 1): number {
  return corners.reduce((least, corner) => Math.min(least, corner[axis]), Infinity);
}

function tracePath(pen: Pen, corners: readonly Point[], camera: Camera): void {
  pen.beginPath();
  corners.forEach(([x, y], at) => (at === 0 ? pen.moveTo(camera.screenX(x), camera.screenY(y)) : pen.lineTo(camera.screenX(x), camera.screenY(y))));
  pen.closePath();
}

/** Which part of the field is nearest to each site, within its reach: the field or a disc, cut by every bisector. */
export function areasOf(field: Field): readonly (readonly Point[])[] {
  if (field.sites.length > SITES_MAX) return [];
  const [left, top] = field.origin;
  const [right, bottom] = [left + field.width, top + field.height];
  const whole: Point[] = [[left, top], [right, top], [right, bottom], [left, bottom]];
  const from = (site: Point) => (field.reach === null ? whole : disc(site, field.reach));
  return field.sites.map((site) => field.sites.reduce<readonly Point[]>((area, other) => (other === site ? area : nearer(area, site, other)), from(site)));
}

/** A disc, as a polygon that looks like one. */
function disc([x, y]: Point, radius: number): readonly Point[] {
  return Array.from({ length: 72 }, (_, at): Point => {
    const angle = (at / 72) * 2 * Math.PI;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** The part of a polygon that is nearer to one point than to another. */
function nearer(area: readonly Point[], site: Point, other: Point): readonly Point[] {
  const [nx, ny] = [other[0] - site[0], other[1] - site[1]];
  const limit = (other[0] ** 2 - site[0] ** 2 + other[1] ** 2 - site[1] ** 2) / 2;
  const beyond = ([x, y]: Point) => x * nx + y * ny - limit;
  const kept: Point[] = [];
  area.forEach((corner, at) => {
    const next = area[(at + 1) % area.length];
    const [here, there] = [beyond(corner), beyond(next)];
    if (here <= 0) kept.push(corner);
    if (here < 0 !== there < 0 && here !== there) {
      const share = here / (here - there);
      kept.push([corner[0] + (next[0] - corner[0]) * share, corner[1] + (next[1] - corner[1]) * share]);
    }
  });
  return kept;
}

export function drawFault(pen: Pen, fault: Fault, camera: Camera, palette: Palette): void {
  const { shape } = fault;
  if (!shape) return;
  pen.beginPath();
  if (shape.form === "disc") {
    pen.arc(camera.screenX(shape.centre[0]), camera.screenY(shape.centre[1]), shape.radius * camera.scale, 0, 2 * Math.PI);
  } else if (shape.form === "rectangle") {
    pen.rect(camera.screenX(shape.from[0]), camera.screenY(shape.from[1]), (shape.to[0] - shape.from[0]) * camera.scale, (shape.to[1] - shape.from[1]) * camera.scale);
  } else {
    traceBorder(pen, [camera.screenX(shape.from[0]), camera.screenY(shape.from[1])], [camera.screenX(shape.to[0]), camera.screenY(shape.to[1])], camera);
  }
  pen.fillStyle = palette.fault;
  pen.globalAlpha = fault.kind === "loss" ? 0.1 : 0.2;
  if (shape.form !== "line") pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.fault;
  pen.lineWidth = shape.form === "line" ? 3 : 1.5;
  pen.setLineDash([7, 4]);
  pen.stroke();
  pen.setLineDash([]);
  const [x, y] = shape.form === "disc" ? [shape.centre[0], shape.centre[1] - shape.radius] : shape.form === "rectangle" ? [(shape.from[0] + shape.to[0]) / 2, Math.min(shape.from[1], shape.to[1])] : shape.from;
  pen.fillStyle = palette.fault;
  pen.font = "600 11px ui-sans-serif, system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.fillText(fault.loss === null ? fault.kind : `${fault.kind} ${Math.round(fault.loss * 100)}%`, camera.screenX(x), camera.screenY(y) + 5);
}

/** A line through two points that has no ends: from one side of the window to the other. */
function traceBorder(pen: Pen, from: Point, to: Point, camera: Camera): void {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  // The point of it that is nearest to the middle of the window.
  const along = (camera.width / 2 - from[0]) * ux + (camera.height / 2 - from[1]) * uy;
  const [x, y, far] = [from[0] + ux * along, from[1] + uy * along, camera.width + camera.height];
  pen.moveTo(x - ux * far, y - uy * far);
  pen.lineTo(x + ux * far, y + uy * far);
}

/** How far a node's radio reaches. */
export function drawRange(pen: Pen, x: number, y: number, radius: number, palette: Palette): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.06;
  pen.fill();
  pen.globalAlpha = 0.7;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 1;
  pen.setLineDash([3, 4]);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}
