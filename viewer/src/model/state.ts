// What is so at one instant of a run. The arrays and maps change from line to line; what is in them never does, so that
// a copy of a state is a copy of references and keyframes cost little. A state is that of one of the resources; nodes
// are numbered by their places.
import type { Fault, Header, Point, Presence, Resource, Section } from "../trace/record";
import { Roster } from "../trace/roster";
import type { Content } from "./message";

export interface NodeState {
  readonly section: Section;
  /** Since when, in nanoseconds. */
  readonly since: number;
  /** The units it holds, in use or not. */
  readonly permits: readonly number[];
  /** Those of them that its application uses. */
  readonly granted: readonly number[];
  /** Whether that is an application of an earlier life of the node, which may be there still or not. */
  readonly isLeft: boolean;
  readonly queue: readonly number[];
  readonly waitsOn: readonly number[];
  readonly height: readonly number[] | null;
  readonly presence: Presence;
  /** Not on the plane: it has left, or has yet to appear. */
  readonly absent: boolean;
  /** Off for now: it keeps what it has, and nobody hears of it. */
  readonly isOff: boolean;
  readonly paused: boolean;
  /** Whether it has the one token of an algorithm that has only one. */
  readonly hasToken: boolean;
  /** The neighbourhood that it is in, or was in last, and which of those there it is. */
  readonly area: number | null;
  readonly seat: number;
}

const NEWCOMER: NodeState = {
  section: "remainder",
  since: 0,
  permits: [],
  granted: [],
  isLeft: false,
  queue: [],
  waitsOn: [],
  height: null,
  presence: "inside",
  absent: false,
  isOff: false,
  paused: false,
  hasToken: false,
  area: null,
  seat: 0,
};

export interface Motion {
  readonly t: number;
  readonly at: Point;
  readonly velocity: Point;
}

/** A message that was sent and has not arrived. */
export interface Flight {
  /** Counts the messages of the run. */
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly t: number;
  readonly content: Content;
}

/** Every pair of nodes that ever had a link, numbered in the order of their appearance. */
export class LinkTable {
  readonly from: number[] = [];
  readonly to: number[] = [];
  readonly #slots = new Map<number, number>();

  slot(a: number, b: number): number {
    const pair = pairOf(Math.min(a, b), Math.max(a, b));
    let slot = this.#slots.get(pair);
    if (slot === undefined) {
      slot = this.from.length;
      this.#slots.set(pair, slot);
      this.from.push(Math.min(a, b));
      this.to.push(Math.max(a, b));
    }
    return slot;
  }

  find(a: number, b: number): number | undefined {
    return this.#slots.get(pairOf(Math.min(a, b), Math.max(a, b)));
  }
}

/** One number for an ordered pair of nodes. */
export function pairOf(from: number, to: number): number {
  return from * 32_768 + to;
}

export function fromPair(pair: number): readonly [number, number] {
  return [Math.floor(pair / 32_768), pair % 32_768];
}

export const LOWER_END = 1;
export const HIGHER_END = 2;
export const BOTH_ENDS = LOWER_END | HIGHER_END;

export class State {
  /** The line that was applied last; -1 at the start. */
  index = -1;
  t = 0;
  nodes: NodeState[] = [];
  motions: (Motion | null)[] = [];
  /** By the slot of the link table: which ends have the link; on a field they learn of it one by one. */
  links: number[] = [];
  /** By ordered pair, the next to arrive first. */
  flights = new Map<number, readonly Flight[]>();
  /** What was under way on a link when it failed last, and has not been returned. */
  cutOff = new Map<number, readonly Flight[]>();
  flightCount = 0;
  /** Messages sent so far. */
  sent = 0;
  faults = new Map<string, Fault>();
  doubts = new Map<number, readonly number[]>();
  /** By node: where its messages go next, by destination. */
  routes: (ReadonlyMap<number, number> | undefined)[] = [];
  waiting = 0;
  inUse = 0;
  steps = 0;
  /** Who took the last step. */
  actor: number | null = null;
  /** Whether nodes move on a plane, where the two ends learn of a link one by one. */
  isField = false;
  violation: string | null = null;

  private constructor(
    readonly roster: Roster,
    /** What is shared, and its number. */
    readonly resource: Resource,
    readonly number: number,
  ) {}

  /** Whether one token stands for all units. */
  get singleToken(): boolean {
    return this.resource.tokens === "one";
  }

  /** Whether all that are inside reach one another, and there are no links. */
  get isNeighbourhood(): boolean {
    return this.resource.neighbourhoods.length > 0;
  }

  /** Whether a node leads there and lends the units: a token is handed over when another node begins to lead. */
  get hasLeader(): boolean {
    return this.isNeighbourhood && this.resource.handsOver.length > 0;
  }

  static first(header: Header, number: number, roster: Roster, table: LinkTable): State {
    const resource = header.resources[number];
    const state = new State(roster, resource, number);
    state.isField = header.field !== null;
    for (let place = 0; place < header.nodes; place++) {
      const { section, permits, queue, waitsOn, height } = resource.start[place] ?? {};
      state.join(permits !== undefined && permits.length > 0);
      const told = { section: section ?? "remainder", permits: permits ?? [], queue: queue ?? [], waitsOn: waitsOn ?? [], height: height ?? null };
      state.nodes[place] = { ...state.nodes[place], ...told };
      state.waiting += Number(section === "waiting");
    }
    resource.neighbourhoods.forEach((inside, area) => inside.forEach((place, seat) => {
      state.nodes[place] = { ...state.nodes[place], presence: "inside", area, seat };
    }));
    for (const [a, b] of header.links) state.links[table.slot(a, b)] = BOTH_ENDS;
    return state;
  }

  /** One more node. It enters a neighbourhood, if there are any, by a line of its own. */
  join(holdsUnits = false): void {
    this.nodes.push({ ...NEWCOMER, presence: this.isNeighbourhood ? "outside" : "inside", hasToken: this.singleToken && holdsUnits });
    this.motions.push(null);
  }

  copy(): State {
    const copy = new State(this.roster, this.resource, this.number);
    Object.assign(copy, this);
    copy.nodes = this.nodes.slice();
    copy.motions = this.motions.slice();
    copy.links = this.links.slice();
    copy.flights = new Map(this.flights);
    copy.cutOff = new Map(this.cutOff);
    copy.faults = new Map(this.faults);
    copy.doubts = new Map(this.doubts);
    copy.routes = this.routes.slice();
    return copy;
  }

  /** Where a node is, if it has a place. */
  placeOf(id: number, now: number): Point | null {
    const motion = this.motions[id];
    if (!motion) return null;
    const seconds = (now - motion.t) / 1e9;
    return [motion.at[0] + motion.velocity[0] * seconds, motion.at[1] + motion.velocity[1] * seconds];
  }
}

/** Whether nothing can be expected of a node, for now or at all. */
export function isDown(node: NodeState): boolean {
  return node.isOff || node.presence === "crashed" || node.presence === "down";
}

/** Whether a member that is said to be inside now does not enter: it was killed there. */
export function isBack(before: State, { node, presence }: { readonly node: number; readonly presence: Presence }): boolean {
  return presence === "inside" && before.nodes[node].presence === "down";
}

/** The pairs that somebody has cut off from each other. */
export function cutsOf(state: State): (readonly [number, number])[] {
  return [...state.faults.values()].flatMap((fault) => (fault.ends ? [fault.ends] : []));
}

/** Those to whom a node has a link, or from whom it was cut off, in the order of their numbers. */
export function linkedTo(state: State, table: LinkTable, id: number): readonly number[] {
  const found = new Set<number>();
  const consider = (a: number, b: number) => void (a === id ? found.add(b) : b === id && found.add(a));
  state.links.forEach((ends, slot) => ends > 0 && consider(table.from[slot], table.to[slot]));
  for (const [a, b] of cutsOf(state)) consider(a, b);
  return [...found].sort((a, b) => a - b);
}

/** The units that a node holds and does not use. */
export function idlePermits(node: NodeState): readonly number[] {
  return node.permits.filter((permit) => !node.granted.includes(permit));
}

/** Whether two nodes are in the same neighbourhood, or there are none. */
export function areTogether(state: State, a: number, b: number): boolean {
  return state.nodes[a].area === state.nodes[b].area;
}

/** How many units are in use in each neighbourhood. */
export function inUseByArea(state: State): readonly number[] {
  const inUse = state.resource.neighbourhoods.map(() => 0);
  for (const { area, granted } of state.nodes) if (area !== null) inUse[area] += granted.length;
  return inUse;
}

/** Which of two heights is the higher one: the first difference decides. */
export function compareHeights(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
