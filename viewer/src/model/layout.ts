// Places for nodes that have none: the same links always give the same picture, and nothing moves later.
import type { Header, Point } from "../trace/record";

/** Above this the forces take too long, and a spiral has to do. */
const FORCES_MAX = 1500;

/** So few nodes are best seen on a circle. */
const CIRCLE_MAX = 5;

/** Places in a rectangle that is 1000 high and so many times as wide. */
export function layOut(header: Header, aspect: number): Point[] {
  return inSquare(header).map(([x, y]) => [x * aspect, y] as const);
}

/** Places that are looked at for a node that joins. */
const CANDIDATES = 400;

/** A place for one more node, as far from the others as can be: nobody has to move. */
export function placeBeside(others: readonly Point[], aspect: number): Point {
  let [best, farthest] = [[500 * aspect, 500] as Point, -1];
  for (const [x, y] of spiral(CANDIDATES)) {
    const place = [x * aspect, y] as const;
    const nearest = others.reduce((least, other) => Math.min(least, Math.hypot(other[0] - place[0], other[1] - place[1])), Infinity);
    if (nearest > farthest) [best, farthest] = [place, nearest];
  }
  return best;
}

function inSquare(header: Header): readonly Point[] {
  const { nodes, links } = header;
  if (nodes <= CIRCLE_MAX || (links.length === 0 && nodes <= 400)) return circle(nodes);
  if (nodes > FORCES_MAX || links.length === 0) return spiral(nodes);
  return fitted(relaxed(spiral(nodes), header));
}

function circle(nodes: number): readonly Point[] {
  return Array.from({ length: nodes }, (_, id) => {
    const angle = (id / nodes) * 2 * Math.PI - Math.PI / 2;
    return [500 + 440 * Math.cos(angle), 500 + 440 * Math.sin(angle)] as const;
  });
}

/** Evenly spread over a disc, without any two in the same place. */
function spiral(nodes: number): readonly Point[] {
  const turn = Math.PI * (3 - Math.sqrt(5));
  return Array.from({ length: nodes }, (_, id) => {
    const radius = 460 * Math.sqrt((id + 0.5) / nodes);
    return [500 + radius * Math.cos(id * turn), 500 + radius * Math.sin(id * turn)] as const;
  });
}

/** Linked nodes attract, all nodes repel (Fruchterman and Reingold), for so many rounds as the time allows. */
function relaxed(start: readonly Point[], header: Header): readonly Point[] {
  const count = start.length;
  const x = Float64Array.from(start, (point) => point[0]);
  const y = Float64Array.from(start, (point) => point[1]);
  const rounds = Math.max(30, Math.min(300, Math.round(4e7 / (count * count))));
  const ideal = 900 / Math.sqrt(count);
  for (let round = 0; round < rounds; round++) {
    const dx = new Float64Array(count);
    const dy = new Float64Array(count);
    repel(x, y, dx, dy, ideal);
    for (const [a, b] of header.links) attract(a, b, x, y, dx, dy, ideal);
    const most = 100 * (1 - round / rounds) ** 2 + 0.5;
    for (let id = 0; id < count; id++) {
      // A weak pull to the middle keeps parts that are not connected in sight.
      dx[id] += (500 - x[id]) * 0.02;
      dy[id] += (500 - y[id]) * 0.02;
      const length = Math.hypot(dx[id], dy[id]) || 1;
      x[id] += (dx[id] / length) * Math.min(length, most);
      y[id] += (dy[id] / length) * Math.min(length, most);
    }
  }
  return Array.from(x, (at, id) => [at, y[id]] as const);
}

function repel(x: Float64Array, y: Float64Array, dx: Float64Array, dy: Float64Array, ideal: number): void {
  for (let a = 0; a < x.length; a++) {
    for (let b = a + 1; b < x.length; b++) {
      const [ex, ey] = [x[a] - x[b], y[a] - y[b]];
      const force = (ideal * ideal) / (ex * ex + ey * ey + 0.01);
      dx[a] += ex * force;
      dy[a] += ey * force;
      dx[b] -= ex * force;
      dy[b] -= ey * force;
    }
  }
}

function attract(a: number, b: number, x: Float64Array, y: Float64Array, dx: Float64Array, dy: Float64Array, ideal: number): void {
  const [ex, ey] = [x[a] - x[b], y[a] - y[b]];
  const force = Math.hypot(ex, ey) / ideal;
  dx[a] -= ex * force;
  dy[a] -= ey * force;
  dx[b] += ex * force;
  dy[b] += ey * force;
}

/** The same picture, as large as the square allows. */
function fitted(points: readonly Point[]): readonly Point[] {
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const [left, top] = [least(xs), least(ys)];
  const [width, height] = [-least(xs.map((x) => -x)) - left || 1, -least(ys.map((y) => -y)) - top || 1];
  return points.map(([x, y]) => [60 + ((x - left) / width) * 880, 60 + ((y - top) / height) * 880] as const);
}

function least(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}
