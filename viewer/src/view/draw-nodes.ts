// Nodes: what they do is told by shape and by colour, so that either is enough.
import { type NodeState, isDown } from "../model/state";
import { drawToken } from "./draw";
import type { Palette } from "./palette";
import type { Scene } from "./scene";

type Pen = CanvasRenderingContext2D;
/** Left: an application of an earlier life of the node may be in the critical section. */
type Look = "remainder" | "waiting" | "critical" | "left" | "outside" | "crashed";

const LOOKS: readonly Look[] = ["outside", "remainder", "waiting", "critical", "left", "crashed"];
/** Nodes in one path; see the links. */
const SHAPES = 32;
/** Tokens that are drawn one by one at a node; more are one disc with their number. */
const TOKENS_APART = 4;

export function lookOf(node: NodeState): Look {
  if (node.absent) return "outside";
  if (isDown(node)) return "crashed";
  if (node.presence === "outside") return "outside";
  return node.isLeft ? "left" : node.section;
}

export function drawNodes(pen: Pen, scene: Scene, palette: Palette): void {
  const groups = new Map<Look, number[]>(LOOKS.map((look) => [look, []]));
  scene.state.nodes.forEach((node, id) => groups.get(lookOf(node))!.push(id));
  drawHalos(pen, groups.get("waiting")!, scene, palette);
  for (const look of LOOKS) drawGroup(pen, look, groups.get(look)!, scene, palette);
  drawPaused(pen, scene, palette);
  drawRings(pen, scene, palette);
  drawLabels(pen, scene, palette);
  scene.state.nodes.forEach((node, id) => drawHeld(pen, node, id, scene, palette));
}

/** Whoever waits is seen first. */
function drawHalos(pen: Pen, ids: readonly number[], scene: Scene, palette: Palette): void {
  pen.fillStyle = palette.waiting;
  pen.globalAlpha = 0.24;
  pen.beginPath();
  for (const id of ids) {
    pen.moveTo(scene.x[id] + scene.radius * 2.1, scene.y[id]);
    pen.arc(scene.x[id], scene.y[id], scene.radius * 2.1, 0, 2 * Math.PI);
  }
  pen.fill();
  pen.globalAlpha = 1;
}

/**
 * Remainder: a circle; waiting: a diamond; critical: a square, of an earlier life an empty and dashed one; crashed or
 * down: a cross; outside or absent: a dotted ring.
 */
function drawGroup(pen: Pen, look: Look, ids: readonly number[], scene: Scene, palette: Palette): void {
  const r = scene.radius;
  pen.lineWidth = look === "crashed" ? Math.max(2, r * 0.3) : look === "left" ? Math.max(1.6, r * 0.2) : Math.max(1, Math.min(2, r * 0.16));
  pen.fillStyle = look === "waiting" || look === "critical" ? palette[look] : palette.paper;
  const strokes = { remainder: palette.remainder, waiting: palette.ink, critical: palette.ink, left: palette.critical, outside: palette.faint, crashed: palette.bad };
  pen.strokeStyle = strokes[look];
  if (look === "outside") pen.setLineDash([2, 3]);
  else if (look === "left") pen.setLineDash([4, 2]);
  for (let start = 0; start < ids.length; start += SHAPES) {
    pen.beginPath();
    for (const id of ids.slice(start, start + SHAPES)) outline(pen, look, scene.x[id], scene.y[id], r);
    if (look !== "crashed") pen.fill();
    pen.stroke();
  }
  pen.setLineDash([]);
}

function outline(pen: Pen, look: Look, x: number, y: number, r: number): void {
  if (look === "waiting") {
    const d = r * 1.28;
    pen.moveTo(x, y - d);
    pen.lineTo(x + d, y);
    pen.lineTo(x, y + d);
    pen.lineTo(x - d, y);
    pen.closePath();
  } else if (look === "critical" || look === "left") {
    pen.rect(x - r, y - r, 2 * r, 2 * r);
  } else if (look === "crashed") {
    const d = r * 0.8;
    pen.moveTo(x - d, y - d);
    pen.lineTo(x + d, y + d);
    pen.moveTo(x + d, y - d);
    pen.lineTo(x - d, y + d);
  } else {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  }
}

/** Two bars beside the node, as on a button. */
function drawPaused(pen: Pen, scene: Scene, palette: Palette): void {
  const r = scene.radius;
  pen.beginPath();
  scene.state.nodes.forEach((node, id) => {
    if (!node.paused) return;
    const [x, y] = [scene.x[id] - r * 1.9, scene.y[id] - r * 0.7];
    pen.rect(x, y, r * 0.35, r * 1.4);
    pen.rect(x + r * 0.6, y, r * 0.35, r * 1.4);
  });
  pen.fillStyle = palette.bad;
  pen.fill();
}

/** Who is selected, and who takes the current step. */
function drawRings(pen: Pen, scene: Scene, palette: Palette): void {
  const ring = (id: number | null, colour: string, gap: number, width: number) => {
    if (id === null || id >= scene.state.nodes.length) return;
    pen.beginPath();
    pen.arc(scene.x[id], scene.y[id], scene.radius + gap, 0, 2 * Math.PI);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke();
  };
  ring(scene.current, palette.ink, 6, 1.2);
  ring(scene.hovered, palette.accent, 5, 1.5);
  ring(scene.selected, palette.accent, 5, 3);
}

function drawLabels(pen: Pen, scene: Scene, palette: Palette): void {
  const r = scene.radius;
  if (r < 7.5) return;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let id = 0; id < scene.state.nodes.length; id++) {
    const name = String(scene.state.roster.idOf(id));
    // Long ids are small, so as to stay inside.
    pen.font = `500 ${Math.round(Math.min(12, r, (3 * r) / name.length))}px ui-sans-serif, system-ui, sans-serif`;
    const look = lookOf(scene.state.nodes[id]);
    pen.fillStyle = look === "crashed" ? palette.bad : look === "remainder" || look === "left" ? palette.ink : look === "outside" ? palette.soft : look === "critical" ? palette["on-critical"] : palette["on-waiting"];
    // A cross has no room for its number.
    pen.fillText(name, scene.x[id] - (look === "crashed" ? r * 1.7 : 0), scene.y[id] + 0.5);
  }
}

/** The tokens at a node, at its upper right. */
function drawHeld(pen: Pen, node: NodeState, id: number, scene: Scene, palette: Palette): void {
  const held = node.permits.length;
  if (held === 0 && !node.hasToken) return;
  const r = scene.radius;
  const x = scene.x[id] + r * 1.05;
  const y = scene.y[id] - r * 1.05;
  if (held === 0) return drawToken(pen, x, y, [], r, palette, true);
  if (held > TOKENS_APART || r < 7) {
    drawToken(pen, x, y, node.permits, r, palette, node.granted.length < held);
    return;
  }
  node.permits.forEach((permit, at) => drawToken(pen, x + at * r * 1.15, y, [permit], r, palette, !node.granted.includes(permit)));
}
