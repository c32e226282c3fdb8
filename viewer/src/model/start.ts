// What holds before the first line. A trace tells only what changes, so who has the units at the start, and the heights,
// follow from the algorithm, as its nodes are made: docs/papers/krl.md, "The initial heights".
import type { Header } from "../trace/record";

export interface Start {
  readonly permits: readonly (readonly number[])[];
  readonly heights: readonly (readonly number[])[] | null;
  /** Who has the token, where there is one for all units. */
  readonly tokenAt: number | null;
}

/** More units than this are not drawn one by one. */
const PERMITS_MAX = 4096;

export function atStart(header: Header): Start {
  const units = Array.from({ length: Math.min(header.k, PERMITS_MAX) }, (_, unit) => unit);
  const permits: number[][] = Array.from({ length: header.nodes }, () => []);
  const { algorithm } = header;
  if (header.nodes === 0) return { permits, heights: null, tokenAt: null };
  if (algorithm.startsWith("krl") || algorithm === "rl") {
    for (const unit of units) permits[unit % header.nodes].push(unit);
    return { permits, heights: heights(header, (id) => id < header.k), tokenAt: null };
  }
  if (algorithm.startsWith("hok")) {
    permits[0] = units;
    return { permits, heights: heights(header, (id) => id === 0), tokenAt: 0 };
  }
  if (algorithm.startsWith("klme") && header.members.length > 0) {
    permits[header.members[0]] = units;
    return { permits, heights: null, tokenAt: algorithm === "klme" ? header.members[0] : null };
  }
  return { permits, heights: null, tokenAt: null };
}

/** A non-holder is as high as it is far from the nearest holder, a holder as low as it is far from the nearest other. */
function heights(header: Header, isHolder: (id: number) => boolean): readonly (readonly number[])[] {
  const neighbours: number[][] = Array.from({ length: header.nodes }, () => []);
  for (const [a, b] of header.links) {
    neighbours[a].push(b);
    neighbours[b].push(a);
  }
  const toHolder = distances(neighbours, isHolder);
  const toOther = distances(neighbours, (id) => !isHolder(id));
  return neighbours.map((_, id) => [0, isHolder(id) ? 1 - (toOther[id] ?? 1) : (toHolder[id] ?? 0), id]);
}

function distances(neighbours: readonly (readonly number[])[], isSource: (id: number) => boolean): (number | undefined)[] {
  const distance: (number | undefined)[] = neighbours.map((_, id) => (isSource(id) ? 0 : undefined));
  const frontier = [...distance.keys()].filter((id) => distance[id] === 0);
  for (let next = 0; next < frontier.length; next++) {
    const id = frontier[next];
    for (const neighbour of neighbours[id]) {
      if (distance[neighbour] !== undefined) continue;
      distance[neighbour] = distance[id]! + 1;
      frontier.push(neighbour);
    }
  }
  return distance;
}
