// What the map shows at one instant, in pixels.
import type { Flight, State } from "../model/state";
import type { Areas } from "../model/areas";
import type { Why } from "../model/why";
import type { Point } from "../trace/record";
import type { Trace } from "../trace/trace";
import type { Box, Camera } from "./camera";

export interface Scene {
  readonly trace: Trace;
  readonly state: State;
  readonly now: number;
  /** For how many nanoseconds what has happened is still seen. */
  readonly glow: number;
  /** Where each node is on the screen. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** The radius of a node. */
  readonly radius: number;
  readonly width: number;
  readonly height: number;
  readonly selected: number | null;
  readonly hovered: number | null;
  readonly why: Why | null;
  readonly current: number | null;
}

/** Whether the trace says where nodes are. */
export function isPlaced(trace: Trace): boolean {
  return trace.hasPlaces || trace.header.field !== null;
}

/** Where nodes are drawn of which no place is told: each in its own, or in the area of its neighbourhood. */
export interface Layout {
  readonly places: readonly Point[];
  readonly areas: Areas | null;
}

/** What has to be in sight; without places, a rectangle that is so many times as wide as high. */
export function extent(trace: Trace, aspect = 1): Box {
  const { field } = trace.header;
  if (field) {
    const [left, top] = field.origin;
    return { left, top, right: left + field.width, bottom: top + field.height };
  }
  if (trace.hasPlaces) {
    const { left, top, right, bottom } = trace.bounds;
    const slack = Math.max(right - left, bottom - top, 1) * 0.05;
    return { left: left - slack, top: top - slack, right: right + slack, bottom: bottom + slack };
  }
  return { left: 0, top: 0, right: 1000 * aspect, bottom: 1000 };
}

/** Pixels of all nodes; whoever has no place yet stands at the edge. */
export function project(trace: Trace, state: State, now: number, camera: Camera, layout: Layout, aspect: number, x: Float64Array, y: Float64Array): void {
  const placed = isPlaced(trace);
  const box = extent(trace, aspect);
  for (let id = 0; id < state.nodes.length; id++) {
    const [motion, first, { area, seat }] = [state.motions[id], trace.firstPlaces[id], state.nodes[id]];
    if (motion) {
      const seconds = (now - motion.t) / 1e9;
      x[id] = camera.screenX(motion.at[0] + motion.velocity[0] * seconds);
      y[id] = camera.screenY(motion.at[1] + motion.velocity[1] * seconds);
    } else if (first) {
      x[id] = camera.screenX(first[0]);
      y[id] = camera.screenY(first[1]);
    } else if (!placed && layout.areas === null) {
      x[id] = camera.screenX(layout.places[id][0]);
      y[id] = camera.screenY(layout.places[id][1]);
    } else if (!placed && area !== null) {
      const [atX, atY] = layout.areas!.place(area, seat);
      x[id] = camera.screenX(atX);
      y[id] = camera.screenY(atY);
    } else {
      x[id] = camera.screenX(box.left);
      y[id] = camera.screenY(box.top + ((id + 0.5) / state.nodes.length) * (box.bottom - box.top));
    }
  }
}

/** As large as the nodes can be without standing on one another. */
export function radiusOf(nodes: number, camera: Camera, box: Box): number {
  const area = (box.right - box.left) * (box.bottom - box.top) * camera.scale * camera.scale;
  return Math.max(2.5, Math.min(13, 0.165 * Math.sqrt(area / Math.max(nodes, 1))));
}

/** How far a message has come, from 0 at its sender to 1. */
export function progress(trace: Trace, flight: Flight, now: number): number {
  const fate = trace.fateOf(flight);
  if (!fate) return Math.min(0.85, (now - flight.t) / 1e9);
  if (fate.t <= flight.t) return 0.5;
  const share = Math.max(0, Math.min(1, (now - flight.t) / (fate.t - flight.t)));
  // What never arrives does not come near.
  return fate.fate === "arrived" || fate.fate === "refused" ? share : share * 0.6;
}
