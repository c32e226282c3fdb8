// The lines of a trace, checked one by one. A trace is somebody else's file: what is not as it should be is turned away
// in words, and no number of the file is used before it is known to be small.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };
export type Point = readonly [number, number];

/** The version of the format that this page understands, as the program does that it is part of. */
export const VERSION = 3;
/** More nodes than this are not shown. */
export const NODES_MAX = 20_000;
/** Characters of a text that somebody else wrote. */
const WORDS_MAX = 240;
/** Metres; beyond this a place is nonsense. */
const COORDINATE_MAX = 1e9;

export interface Field {
  /** The corner with the least coordinates. */
  readonly origin: Point;
  readonly width: number;
  readonly height: number;
  readonly range: number | null;
  readonly sites: readonly Point[];
  /** How far a site can be reached from, if that ends. */
  readonly reach: number | null;
}

export interface Header {
  readonly version: number;
  readonly algorithm: string;
  readonly without: readonly string[];
  readonly nodes: number;
  readonly k: number;
  readonly links: readonly (readonly [number, number])[];
  /** Who is inside at the start; empty if the algorithm has links instead. */
  readonly members: readonly number[];
  /** What each node knows at the start, as far as it is told. */
  readonly start: readonly Status[];
  readonly field: Field | null;
  /** The command that finds a counterexample. */
  readonly command: string | null;
}

export type Section = "remainder" | "waiting" | "critical";
/** Who is down was killed inside, and will be back with what it had stored. */
export type Presence = "inside" | "outside" | "crashed" | "down";

const PRESENCES: readonly Presence[] = ["inside", "outside", "crashed", "down"];

export interface Status {
  readonly section?: Section;
  readonly permits?: readonly number[];
  readonly queue?: readonly number[];
  readonly waitsOn?: readonly number[];
  readonly height?: readonly number[];
}

export interface Step {
  readonly kind: "step";
  readonly t: number;
  readonly node: number;
  readonly input: Json;
  readonly out: readonly Json[];
  readonly refused: string | null;
  readonly status: Status | null;
}

export type Shape =
  | { readonly form: "disc"; readonly centre: Point; readonly radius: number }
  | { readonly form: "rectangle" | "line"; readonly from: Point; readonly to: Point };

export interface Fault {
  readonly kind: string;
  readonly node: number | null;
  /** The two that a cut is between. */
  readonly ends: readonly [number, number] | null;
  readonly shape: Shape | null;
  readonly loss: number | null;
}

export type Line =
  | Step
  | { readonly kind: "link"; readonly t: number; readonly ends: readonly [number, number]; readonly up: boolean; readonly incarnation: number }
  | { readonly kind: "member"; readonly t: number; readonly node: number; readonly presence: Presence }
  | { readonly kind: "lost"; readonly t: number; readonly ends: readonly [number, number]; readonly message: Json }
  | { readonly kind: "move"; readonly t: number; readonly node: number; readonly at: Point; readonly velocity: Point; readonly absent: boolean }
  | { readonly kind: "fault"; readonly t: number; readonly id: string; readonly is: Fault | null }
  | { readonly kind: "doubt"; readonly t: number; readonly ends: readonly [number, number]; readonly permits: readonly number[] }
  | { readonly kind: "route"; readonly t: number; readonly ends: readonly [number, number]; readonly via: number | null }
  | { readonly kind: "now"; readonly t: number; readonly checked: number | null }
  | { readonly kind: "end"; readonly t: number | null; readonly steps: number; readonly violation: string | null };

/** Why a line is not what it should be; the message is for people. */
export class Unreadable extends Error {}

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The name and the content of a value that is one of several kinds: a string, or an object of one field. */
export function variant(value: Json | undefined): readonly [string, Json] | null {
  if (typeof value === "string") return [value, null];
  if (!isFields(value)) return null;
  const names = Object.keys(value);
  return names.length === 1 ? [names[0], value[names[0]]] : null;
}

export function clipped(text: string, most = WORDS_MAX): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export function parseJson(text: string): Fields {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new Unreadable("it is not JSON");
  }
  if (!isFields(value)) throw new Unreadable("it is not a JSON object");
  return value;
}

/** Whether a line begins a trace. */
export function isHeader(fields: Fields): boolean {
  return "format" in fields;
}

export function parseHeader(fields: Fields): Header {
  if (fields.format !== "driftlock-trace") throw new Unreadable("the first line is not the header of a driftlock trace");
  const version = whole(fields.version, "the version", 1e6);
  if (version !== VERSION) {
    throw new Unreadable(`the trace has version ${version}, but this driftlock reads version ${VERSION}: use the driftlock that wrote it`);
  }
  const deployment = isFields(fields.deployment) ? fields.deployment : {};
  const nodes = deployment.nodes;
  if (typeof nodes !== "number" || !Number.isInteger(nodes) || nodes < 0) throw new Unreadable("the header does not say how many nodes there are");
  if (nodes > NODES_MAX) throw new Unreadable(`the header speaks of ${nodes.toLocaleString("en-GB")} nodes; this page shows ${NODES_MAX.toLocaleString("en-GB")} at most`);
  const world = variant(fields.world)?.[1];
  return {
    version,
    algorithm: typeof fields.algorithm === "string" ? clipped(fields.algorithm, 48) : "?",
    without: list(fields.without).filter((name): name is string => typeof name === "string").map((name) => clipped(name, 48)),
    nodes,
    k: whole(deployment.k, "k", 1e9),
    links: list(deployment.links).map((pair) => ends(pair, "a link", nodes)),
    members: list(deployment.members).map((member) => id(member, "a member", nodes)),
    start: list(fields.start).slice(0, nodes).map((status) => (isFields(status) ? parseStatus(status, nodes) : {})),
    field: fields.field === undefined || fields.field === null ? null : parseField(fields.field),
    command: isFields(world) && typeof world.command === "string" ? clipped(world.command, 400) : null,
  };
}

/** Any line but the first, of a trace with so many nodes. */
export function parseLine(fields: Fields, nodes: number): Line {
  if ("in" in fields) return parseStep(fields, nodes);
  if ("link" in fields) {
    const incarnation = typeof fields.incarnation === "number" ? fields.incarnation : 0;
    return { kind: "link", t: time(fields.t), ends: ends(fields.link, "the link", nodes), up: fields.up === true, incarnation };
  }
  if ("move" in fields) {
    return { kind: "move", t: time(fields.t), node: id(fields.move, "the node", nodes), at: point(fields.at, "the place"), velocity: point(fields.velocity ?? [0, 0], "the velocity"), absent: fields.absent === true };
  }
  if ("member" in fields) {
    const presence = PRESENCES.find((known) => known === fields.presence);
    if (presence === undefined) throw new Unreadable("it does not say where the member is");
    return { kind: "member", t: time(fields.t), node: id(fields.member, "the member", nodes), presence };
  }
  if ("lost" in fields) return { kind: "lost", t: time(fields.t), ends: ends(fields.lost, "the two nodes", nodes), message: fields.message ?? null };
  if ("fault" in fields) {
    const name = fields.fault;
    if (typeof name !== "number" && typeof name !== "string") throw new Unreadable("the fault has no name");
    return { kind: "fault", t: time(fields.t), id: clipped(String(name), 48), is: fields.is ? parseFault(fields.is, nodes) : null };
  }
  if ("doubt" in fields) return { kind: "doubt", t: time(fields.t), ends: ends(fields.doubt, "the doubt", nodes), permits: permits(fields.permits) };
  if ("route" in fields) {
    const via = fields.via === null || fields.via === undefined ? null : id(fields.via, "the next hop", nodes);
    return { kind: "route", t: time(fields.t), ends: ends(fields.route, "the route", nodes), via };
  }
  if ("now" in fields) {
    return { kind: "now", t: time(fields.now), checked: typeof fields.checked === "number" && Number.isFinite(fields.checked) ? fields.checked : null };
  }
  if (isFields(fields.end)) {
    const { steps, t, violation } = fields.end;
    return {
      kind: "end",
      t: typeof t === "number" ? time(t) : null,
      steps: typeof steps === "number" && Number.isFinite(steps) ? steps : 0,
      violation: typeof violation === "string" ? clipped(violation, 600) : null,
    };
  }
  throw new Unreadable("it is no record that this page knows");
}

function parseStep(fields: Fields, nodes: number): Step {
  return {
    kind: "step",
    t: time(fields.t),
    node: id(fields.node, "the node", nodes),
    input: fields.in,
    out: list(fields.out),
    refused: fields.refused === undefined || fields.refused === null ? null : clipped(variant(fields.refused)?.[0] ?? "refused", 48),
    status: isFields(fields.status) ? parseStatus(fields.status, nodes) : null,
  };
}

function parseStatus(fields: Fields, nodes: number): Status {
  const status: { -readonly [name in keyof Status]: Status[name] } = {};
  const { section } = fields;
  if (section === "remainder" || section === "waiting" || section === "critical") status.section = section;
  if (fields.permits !== undefined) status.permits = permits(fields.permits);
  if (fields.queue !== undefined) status.queue = ids(fields.queue, "the queue", nodes);
  const { waits_on: waitsOn } = fields;
  if (waitsOn !== undefined) status.waitsOn = ids(typeof waitsOn === "number" ? [waitsOn] : waitsOn, "whom it waits on", nodes);
  if (fields.height !== undefined) status.height = numbers(fields.height);
  return status;
}

function ids(value: Json, what: string, nodes: number): readonly number[] {
  return list(value).map((one) => id(one, what, nodes));
}

function parseField(value: Json): Field {
  if (!isFields(value)) throw new Unreadable("the header's field is no object");
  const side = (side: Json | undefined) => {
    if (typeof side !== "number" || !(side > 0) || side > COORDINATE_MAX) throw new Unreadable("the header's field has no size");
    return side;
  };
  const distance = (distance: Json | undefined) => (typeof distance === "number" && distance > 0 && distance <= COORDINATE_MAX ? distance : null);
  const sites = list(value.sites).slice(0, NODES_MAX).map((site) => point(site, "a site"));
  const origin = value.origin === undefined || value.origin === null ? ([0, 0] as const) : point(value.origin, "the corner of the field");
  return { origin, width: side(value.width), height: side(value.height), range: distance(value.range), sites, reach: distance(value.reach) };
}

function parseFault(value: Json, nodes: number): Fault {
  if (!isFields(value)) throw new Unreadable("the fault says not what it is");
  return {
    kind: typeof value.kind === "string" ? clipped(value.kind, 24) : "fault",
    node: value.node === undefined || value.node === null ? null : id(value.node, "the node", nodes),
    ends: value.nodes === undefined || value.nodes === null ? null : ends(value.nodes, "the cut", nodes),
    shape: parseShape(value),
    loss: typeof value.loss === "number" && value.loss >= 0 && value.loss <= 1 ? value.loss : null,
  };
}

function parseShape(value: Fields): Shape | null {
  const { disc, rectangle, line } = value;
  if (isFields(disc)) {
    const radius = disc.radius;
    if (typeof radius !== "number" || !(radius >= 0) || radius > COORDINATE_MAX) throw new Unreadable("the disc has no radius");
    return { form: "disc", centre: point(disc.centre, "the centre"), radius };
  }
  if (isFields(rectangle)) return { form: "rectangle", from: point(rectangle.from, "a corner"), to: point(rectangle.to, "a corner") };
  if (isFields(line)) return { form: "line", from: point(line.from, "an end"), to: point(line.to, "an end") };
  return null;
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function time(value: Json | undefined): number {
  if (typeof value !== "number" || !(value >= 0) || value > Number.MAX_SAFE_INTEGER) throw new Unreadable("its time is no time");
  return value;
}

function whole(value: Json | undefined, what: string, most: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most) throw new Unreadable(`${what} is no sensible number`);
  return value;
}

function id(value: Json | undefined, what: string, nodes: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) throw new Unreadable(`${what} is not the number of a node`);
  if (value >= nodes) throw new Unreadable(`${what} is node ${value}, and there are only ${nodes} nodes`);
  return value;
}

function ends(value: Json | undefined, what: string, nodes: number): readonly [number, number] {
  const pair = list(value);
  if (pair.length !== 2) throw new Unreadable(`${what} has not two ends`);
  return [id(pair[0], what, nodes), id(pair[1], what, nodes)];
}

function point(value: Json | undefined, what: string): Point {
  const pair = list(value);
  const fine = (number: Json): number is number => typeof number === "number" && Math.abs(number) <= COORDINATE_MAX;
  const [x, y] = pair;
  if (pair.length !== 2 || !fine(x) || !fine(y)) throw new Unreadable(`${what} is no place`);
  return [x, y];
}

function numbers(value: Json | undefined): readonly number[] {
  return list(value).slice(0, 8).map((number) => (typeof number === "number" && Number.isFinite(number) ? number : 0));
}

function permits(value: Json | undefined): readonly number[] {
  return list(value).slice(0, 4096).filter((permit): permit is number => typeof permit === "number" && Number.isInteger(permit) && permit >= 0);
}
