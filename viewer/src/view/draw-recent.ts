// What has just happened, fading: tokens that were passed on, units that were granted. A radio passes a token on within
// milliseconds, and nobody would see it.
import type { Palette } from "./palette";
import type { Scene } from "./scene";

type Pen = CanvasRenderingContext2D;

/** More than these are not drawn: they are the older ones, and have faded most. */
const HOPS_MAX = 16;
const GRANTS_MAX = 6;

/** The way of each token, brighter towards its end. */
export function drawHops(pen: Pen, scene: Scene, palette: Palette): void {
  const { x, y, now, glow, trace, radius } = scene;
  const last = trace.hops.end.countUpTo(now) - 1;
  pen.lineCap = "round";
  for (let at = last; at >= 0 && at > last - HOPS_MAX; at--) {
    const age = (now - trace.hops.end.at(at)) / glow;
    if (age > 1) break;
    const [from, to] = [trace.hops.from.at(at), trace.hops.to.at(at)];
    const fade = pen.createLinearGradient(x[from], y[from], x[to], y[to]);
    fade.addColorStop(0, `${palette.trail}00`);
    fade.addColorStop(1, palette.trail);
    pen.globalAlpha = (1 - age) ** 1.5;
    pen.strokeStyle = fade;
    pen.lineWidth = Math.max(2, radius * 0.5);
    pen.beginPath();
    pen.moveTo(x[from], y[from]);
    pen.lineTo(x[to], y[to]);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.lineCap = "butt";
}

/** A ring that grows around whoever was granted. */
export function drawGrants(pen: Pen, scene: Scene, palette: Palette): void {
  const { x, y, now, glow, trace, radius } = scene;
  const last = trace.grants.countUpTo(scene.state.index) - 1;
  pen.strokeStyle = palette.critical;
  for (let at = last; at >= 0 && at > last - GRANTS_MAX; at--) {
    const line = trace.grants.at(at);
    const age = (now - trace.t.at(line)) / glow;
    if (age > 1) break;
    const id = trace.who.at(line);
    pen.globalAlpha = (1 - age) ** 2;
    pen.lineWidth = 3 - 2 * age;
    pen.beginPath();
    pen.arc(x[id], y[id], radius * (1.5 + 2.2 * Math.sqrt(age)), 0, 2 * Math.PI);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}
