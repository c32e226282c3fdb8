// One line further: how a state follows from the one before.
import { type Fields, type Json, type Line, type Step, isFields, variant } from "../trace/record";
import { type Content, contentOf } from "./message";
import { BOTH_ENDS, type Flight, HIGHER_END, LOWER_END, type LinkTable, type NodeState, type State, areTogether, fromPair, idlePermits, pairOf } from "./state";

/** More messages under way than this are not followed. */
export const FLIGHTS_MAX = 200_000;

/** Messages that are remembered of a link that has failed. */
const CUT_OFF_MAX = 256;

export type Fate = "arrived" | "refused" | "returned" | "lost";

/** Is told what a line does to messages, besides what becomes of the state. */
export interface Watch {
  sent?(flight: Flight): void;
  ended?(flight: Flight, fate: Fate): void;
  granted?(node: number, permits: readonly number[]): void;
}

const UNWATCHED: Watch = {};

export function apply(state: State, line: Line, table: LinkTable, watch: Watch = UNWATCHED): void {
  if (line.kind !== "now" && line.t !== null) state.t = Math.max(state.t, line.t);
  if ("resource" in line && line.resource !== state.number) return;
  switch (line.kind) {
    case "step":
      return step(state, line, table, watch);
    case "link":
      // On a field the ends' own steps say more: one of them may take the link for granted for a while.
      if (state.isField) return;
      state.links[table.slot(line.ends[0], line.ends[1])] = line.up ? BOTH_ENDS : 0;
      if (line.up) return;
      // What was cut off when it failed before is not heard of again.
      for (const pair of bothWays(line.ends[0], line.ends[1])) state.cutOff.delete(pair);
      return cut(state, line.ends[0], line.ends[1], watch);
    case "join":
      return state.join();
    case "member":
      return member(state, line, watch);
    case "lost": {
      const [from, to] = line.ends;
      const flight = takeSaying(state, state.flights, from, to, content(state, line.message)) ?? takeOldest(state, state.flights, from, to);
      if (flight) watch.ended?.(flight, "lost");
      return;
    }
    case "move":
      state.motions[line.node] = { t: line.t, at: line.at, velocity: line.velocity };
      if (state.nodes[line.node].absent !== line.absent) state.nodes[line.node] = { ...state.nodes[line.node], absent: line.absent };
      return;
    case "fault":
      return fault(state, line);
    case "doubt":
      if (line.permits.length > 0) state.doubts.set(pairOf(line.ends[0], line.ends[1]), line.permits);
      else state.doubts.delete(pairOf(line.ends[0], line.ends[1]));
      return;
    case "route": {
      const routes = new Map(state.routes[line.ends[0]]);
      if (line.via === null) routes.delete(line.ends[1]);
      else routes.set(line.ends[1], line.via);
      state.routes[line.ends[0]] = routes;
      return;
    }
    case "end":
      state.violation = line.violation;
      return;
    case "now":
      return;
  }
}

function step(state: State, line: Step, table: LinkTable, watch: Watch): void {
  state.steps++;
  state.actor = line.node;
  const [kind, says] = variant(line.input) ?? ["step", null];
  if (kind === "restart") restart(state, line.node, table, watch);
  else if (kind === "resume" && !line.refused) resume(state, line.node, says);
  else if (isFields(says) && kind === "below") below(state, line.node, says, table, watch);
  else if (isFields(says)) receive(state, line, kind, says, watch);
  for (const effect of line.out) {
    const [deed, detail] = variant(effect) ?? ["", null];
    const fields: Fields = isFields(detail) ? detail : {};
    if (deed === "send") send(state, line, fields.to, content(state, fields.message), watch);
    else if (deed === "broadcast") broadcast(state, line, content(state, fields.message), watch);
    else if (deed === "grant") grant(state, line.node, fields.permits, watch);
  }
  if (line.status) adopt(state, line);
  // Whoever was inside is so still, for all that the node has stored.
  if (kind === "restart") change(state, line.node, { isLeft: state.nodes[line.node].section === "critical" });
}

/** What a message says and brings, as those know it who share this resource. */
function content(state: State, message: Json | undefined): Content {
  return contentOf(message, state.resource.brings);
}

function change(state: State, id: number, by: Partial<NodeState>): void {
  const before = state.nodes[id];
  const after = { ...before, ...by };
  state.nodes[id] = after;
  state.waiting += Number(after.section === "waiting") - Number(before.section === "waiting");
  state.inUse += after.granted.length - before.granted.length;
}

/** Takes over what the status says; who is not in its critical section any more uses nothing. */
function adopt(state: State, line: Step): void {
  const { section, permits, queue, waitsOn, height } = line.status!;
  const before = state.nodes[line.node];
  const now = section ?? before.section;
  change(state, line.node, {
    section: now,
    since: now === before.section ? before.since : line.t,
    permits: permits ?? before.permits,
    granted: now === "critical" ? before.granted : [],
    isLeft: now === "critical" && before.isLeft,
    queue: queue ?? before.queue,
    waitsOn: waitsOn ?? before.waitsOn,
    height: height ?? before.height,
  });
  // Whoever finds nobody in a neighbourhood makes the token; whoever does not lead has no unit to spare.
  if (state.singleToken && state.isNeighbourhood && !before.hasToken && idlePermits(state.nodes[line.node]).length > 0) change(state, line.node, { hasToken: true });
}

function grant(state: State, id: number, value: Json | undefined, watch: Watch): void {
  const permits = permitsIn(value);
  change(state, id, { granted: permits, isLeft: false });
  watch.granted?.(id, permits);
}

function permitsIn(value: Json | undefined): readonly number[] {
  return Array.isArray(value) ? value.slice(0, 4096).filter((permit): permit is number => typeof permit === "number") : [];
}

/**
 * A node was killed, and is back where it was: its links are not, and nothing that was on its way to it arrives, but
 * for units that come late.
 */
function restart(state: State, id: number, table: LinkTable, watch: Watch): void {
  state.links.forEach((ends, slot) => {
    if (table.from[slot] === id) state.links[slot] = ends & ~LOWER_END;
    else if (table.to[slot] === id) state.links[slot] = ends & ~HIGHER_END;
  });
  for (const pair of [...state.flights.keys()]) if (fromPair(pair)[1] === id) cutOff(state, pair, watch);
  // The one token of a neighbourhood is stored nowhere.
  const hasToken = state.nodes[id].hasToken && !state.isNeighbourhood;
  change(state, id, { presence: "inside", hasToken });
}

/** An application of an earlier life has shown its grant, and is one of this life now. */
function resume(state: State, id: number, content: Json): void {
  const shown = isFields(content) && isFields(content.grant) ? content.grant.permits : undefined;
  change(state, id, { granted: permitsIn(shown), isLeft: false });
}

/** What an input takes out of the air. */
function receive(state: State, line: Step, kind: string, says: Fields, watch: Watch): void {
  const refused = line.refused !== null;
  const said = content(state, says.message);
  const [from, to] = [placeOf(state, says.from), placeOf(state, says.to)];
  if (kind === "message" && from !== null) {
    const find = refused ? late : arriving;
    const flight = find(state, from, line.node, said) ?? unseen(state, line, from, said);
    watch.ended?.(flight, refused ? "refused" : "arrived");
    if (!refused) holdToken(state, line.node, flight.content, true);
  } else if (kind === "undelivered" && to !== null) {
    const flight = late(state, line.node, to, said);
    if (flight) {
      watch.ended?.(flight, "returned");
      holdToken(state, line.node, flight.content, true);
    }
  }
}

/** Takes the message that arrives. Some find another way after their link has failed. */
function arriving(state: State, from: number, to: number, said: Content): Flight | undefined {
  return takeSaying(state, state.flights, from, to, said) ?? takeSaying(state, state.cutOff, from, to, said) ?? takeOldest(state, state.flights, from, to);
}

/** Takes the message that is returned, or refused for being late: such were sent before the link failed. */
function late(state: State, from: number, to: number, said: Content): Flight | undefined {
  const known = takeSaying(state, state.cutOff, from, to, said) ?? takeSaying(state, state.flights, from, to, said);
  return known ?? takeOldest(state, state.cutOff, from, to) ?? takeOldest(state, state.flights, from, to);
}

/** A message of which the trace does not show where it comes from. */
function unseen(state: State, line: Step, from: number, content: Content): Flight {
  return { id: -1, from, to: line.node, t: state.t, content };
}

function send(state: State, line: Step, receiver: Json | undefined, content: Content, watch: Watch): void {
  const to = placeOf(state, receiver);
  if (to === null) return;
  fly(state, line.node, to, content, watch);
  holdToken(state, line.node, content, false);
}

function broadcast(state: State, line: Step, content: Content, watch: Watch): void {
  if (state.flightCount + state.nodes.length > FLIGHTS_MAX) return;
  for (let to = 0; to < state.nodes.length; to++) {
    if (to !== line.node && state.nodes[to].presence === "inside" && areTogether(state, to, line.node)) fly(state, line.node, to, content, watch);
  }
}

function fly(state: State, from: number, to: number, content: Content, watch: Watch): void {
  const flight: Flight = { id: state.sent++, from, to, t: state.t, content };
  watch.sent?.(flight);
  if (state.flightCount >= FLIGHTS_MAX) return;
  const pair = pairOf(from, to);
  const others = state.flights.get(pair);
  state.flights.set(pair, others ? [...others, flight] : [flight]);
  state.flightCount++;
}

/** Only where one token stands for all units: where each has its own, the status tells of it. */
function holdToken(state: State, id: number, content: Content, hasToken: boolean): void {
  if (state.singleToken && state.resource.handsOver.includes(content.kind) && state.nodes[id].hasToken !== hasToken) change(state, id, { hasToken });
}

type Flights = Map<number, readonly Flight[]>;

/** Of those that say the same nobody can tell which it is: the oldest. */
function takeSaying(state: State, from: Flights, sender: number, receiver: number, said: Content): Flight | undefined {
  const at = from.get(pairOf(sender, receiver))?.findIndex((flight) => flight.content.says(said)) ?? -1;
  return at < 0 ? undefined : takeAt(state, from, sender, receiver, at);
}

function takeOldest(state: State, from: Flights, sender: number, receiver: number): Flight | undefined {
  return from.has(pairOf(sender, receiver)) ? takeAt(state, from, sender, receiver, 0) : undefined;
}

function takeAt(state: State, from: Flights, sender: number, receiver: number, at: number): Flight {
  const pair = pairOf(sender, receiver);
  const flights = from.get(pair)!;
  if (flights.length === 1) from.delete(pair);
  else from.set(pair, flights.filter((_, index) => index !== at));
  if (from === state.flights) state.flightCount--;
  return flights[at];
}

/** What a node learns of its links from the layer below. */
function below(state: State, id: number, content: Fields, table: LinkTable, watch: Watch): void {
  const [kind, detail] = variant(content) ?? ["", null];
  const peer = isFields(detail) ? placeOf(state, detail.peer) : null;
  if ((kind !== "up" && kind !== "down") || peer === null || peer === id) return;
  const slot = table.slot(id, peer);
  const end = id < peer ? LOWER_END : HIGHER_END;
  const ends = state.links[slot] ?? 0;
  state.links[slot] = kind === "up" ? ends | end : ends & ~end;
  if (kind === "down") cut(state, id, peer, watch);
}

function bothWays(a: number, b: number): readonly number[] {
  return [pairOf(a, b), pairOf(b, a)];
}

/**
 * Nothing is expected to arrive over a link that has failed; what arrives or is returned all the same is found among
 * what was cut off.
 */
function cut(state: State, a: number, b: number, watch: Watch): void {
  for (const pair of bothWays(a, b)) cutOff(state, pair, watch);
}

/** The same, one way. */
function cutOff(state: State, pair: number, watch: Watch): void {
  const flights = state.flights.get(pair);
  if (!flights) return;
  state.flights.delete(pair);
  state.flightCount -= flights.length;
  state.cutOff.set(pair, [...(state.cutOff.get(pair) ?? []), ...flights].slice(-CUT_OFF_MAX));
  for (const flight of flights) watch.ended?.(flight, "lost");
}

function member(state: State, line: Extract<Line, { kind: "member" }>, watch: Watch): void {
  const { node: id, presence, neighbourhood: area } = line;
  if (presence === "inside") return change(state, id, { presence, area, seat: seatIn(state, id, area) });
  for (const [pair, flights] of state.flights) {
    if (fromPair(pair)[1] !== id) continue;
    state.flights.delete(pair);
    state.flightCount -= flights.length;
    for (const flight of flights) watch.ended?.(flight, "lost");
  }
  // What it had stored is told when it is back.
  if (presence === "down") return change(state, id, { presence });
  // Where it goes the token of this neighbourhood means nothing.
  if (presence === "outside") return change(state, id, { presence, hasToken: false });
  change(state, id, { presence, section: "remainder", since: state.t, permits: [], granted: [], isLeft: false, queue: [], waitsOn: [], hasToken: false });
}

function fault(state: State, line: Extract<Line, { kind: "fault" }>): void {
  const former = state.faults.get(line.id);
  if (line.is) state.faults.set(line.id, line.is);
  else state.faults.delete(line.id);
  const about = line.is ?? former;
  if (!about || about.node === null) return;
  if (about.kind === "pause") change(state, about.node, { paused: line.is !== null });
  // What it forgets, if anything, is told by another line.
  if (about.kind === "crash") change(state, about.node, { isOff: line.is !== null });
}

/** The place of a node that is there by now. */
function placeOf(state: State, id: Json | undefined): number | null {
  const place = typeof id === "number" && Number.isInteger(id) && id >= 0 ? state.roster.placeOf(id) : undefined;
  return place !== undefined && place < state.nodes.length ? place : null;
}

/** A seat that is free in a neighbourhood. Who has left keeps the seat until it takes another. */
function seatIn(state: State, id: number, area: number): number {
  if (state.nodes[id].area === area) return state.nodes[id].seat;
  const taken = new Set(state.nodes.filter((node) => node.area === area).map((node) => node.seat));
  let seat = 0;
  while (taken.has(seat)) seat++;
  return seat;
}
