// The lines of a trace, checked one by one. A trace is somebody else's file: what is not as it should be is turned away
// in words, and no number of the file is used before it is known to be small.
import { Roster } from "./roster";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };
export type Point = readonly [number, number];

/** The version of the format that this page understands, as the program does that it is part of. */
export const VERSION = 4;
/** Who wrote the versions whose headers do not say so, in the words of docs/trace.md. */
const WROTE: ReadonlyMap<number, string> = new Map([
  [1, "driftlock 0.1.0 before its release (commits from c7a662c until 77f8f68)"],
  [2, "driftlock 0.1.0 before its release (commits from 77f8f68 until 1b0d118)"],
  [3, "driftlock 0.1.0 before its release (commits from 1b0d118 on)"],
]);
/** More nodes than this are not shown. */
export const NODES_MAX = 20_000;
/** Resources and neighbourhoods beyond this are not shown. */
const GROUPS_MAX = 1000;
/** Ids are numbers of 32 bits. */
const ID_MAX = 0xffff_ffff;
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
  /** How many nodes there are at the start. */
  readonly nodes: number;
  readonly links: readonly (readonly [number, number])[];
  /** What is shared; never empty. */
  readonly resources: readonly Resource[];
  readonly field: Field | null;
  /** The command that finds a counterexample. */
  readonly command: string | null;
}

/** Something that is shared, and the algorithm by which it is. All that is known of that is said here. */
export interface Resource {
  readonly algorithm: string;
  /** Units; in each neighbourhood, if there are several. */
  readonly k: number;
  readonly without: readonly string[];
  /** Whether there is a token for each unit, one for all, or none. */
  readonly tokens: "each" | "one" | "none";
  /** The kinds of messages by which a node asks, that bring what it needs, and that hand a token over. */
  readonly asks: readonly string[];
  readonly brings: readonly string[];
  readonly handsOver: readonly string[];
  /** The pages about its clauses, the nearest first. */
  readonly pages: readonly string[];
  /** Who is in which neighbourhood at the start; empty if the algorithm has links instead. */
  readonly neighbourhoods: readonly (readonly number[])[];
  /** What each node knows at the start, as far as it is told. */
  readonly start: readonly Status[];
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
  readonly resource: number;
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
  | { readonly kind: "join"; readonly t: number; readonly node: number; readonly id: number }
  | { readonly kind: "member"; readonly t: number; readonly node: number; readonly resource: number; readonly presence: Presence; readonly neighbourhood: number }
  | { readonly kind: "lost"; readonly t: number; readonly ends: readonly [number, number]; readonly resource: number; readonly message: Json }
  | { readonly kind: "move"; readonly t: number; readonly node: number; readonly at: Point; readonly velocity: Point; readonly absent: boolean }
  | { readonly kind: "fault"; readonly t: number; readonly id: string; readonly is: Fault | null }
  | { readonly kind: "doubt"; readonly t: number; readonly ends: readonly [number, number]; readonly resource: number; readonly permits: readonly number[] }
  | { readonly kind: "route"; readonly t: number; readonly ends: readonly [number, number]; readonly via: number | null }
  | { readonly kind: "now"; readonly t: number; readonly checked: number | null }
  | { readonly kind: "end"; readonly t: number | null; readonly steps: number; readonly violation: string | null; readonly about: number };

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
  if (version !== VERSION) throw new Unreadable(otherVersion(version, fields.driftlock));
  const { nodes } = fields;
  if (typeof nodes !== "number" || !Number.isInteger(nodes) || nodes < 0) throw new Unreadable("the header does not say how many nodes there are");
  if (nodes > NODES_MAX) throw new Unreadable(`the header speaks of ${nodes.toLocaleString("en-GB")} nodes; this page shows ${NODES_MAX.toLocaleString("en-GB")} at most`);
  const roster = new Roster(nodes);
  const world = variant(fields.world)?.[1];
  const resources = list(fields.resources).slice(0, GROUPS_MAX).filter(isFields).map((resource) => parseResource(resource, roster));
  if (resources.length === 0) throw new Unreadable("the header does not say what is shared");
  return {
    version,
    nodes,
    links: list(fields.links).map((pair) => ends(pair, "a link", roster)),
    resources,
    field: fields.field === undefined || fields.field === null ? null : parseField(fields.field),
    command: isFields(world) && typeof world.command === "string" ? clipped(world.command, 400) : null,
  };
}

function otherVersion(version: number, told: Json | undefined): string {
  const wrote = typeof told === "string" ? `driftlock ${clipped(told, 24)}` : (WROTE.get(version) ?? "a driftlock unknown to this one");
  return `the trace has version ${version} of the format, which ${wrote} wrote, and this driftlock reads version ${VERSION}: use the one that wrote it, or record the run again`;
}

function parseResource(fields: Fields, roster: Roster): Resource {
  const { tokens } = fields;
  return {
    algorithm: typeof fields.algorithm === "string" ? clipped(fields.algorithm, 48) : "?",
    k: whole(fields.k, "k", 1e9),
    without: names(fields.without),
    tokens: tokens === "each" || tokens === "one" ? tokens : "none",
    asks: names(fields.asks),
    brings: names(fields.brings),
    handsOver: names(fields.hands_over),
    pages: names(fields.pages),
    neighbourhoods: list(fields.neighbourhoods).slice(0, GROUPS_MAX).map((inside) => list(isFields(inside) ? inside.members : []).map((member) => place(member, "a member", roster))),
    start: list(fields.start).slice(0, roster.size).map((status) => (isFields(status) ? parseStatus(status, roster) : {})),
  };
}

/** Any line but the first, of a trace with these nodes. */
export function parseLine(fields: Fields, roster: Roster): Line {
  if ("in" in fields) return parseStep(fields, roster);
  if ("link" in fields) {
    const incarnation = typeof fields.incarnation === "number" ? fields.incarnation : 0;
    return { kind: "link", t: time(fields.t), ends: ends(fields.link, "the link", roster), up: fields.up === true, incarnation };
  }
  if ("move" in fields) {
    return { kind: "move", t: time(fields.t), node: place(fields.move, "the node", roster), at: point(fields.at, "the place"), velocity: point(fields.velocity ?? [0, 0], "the velocity"), absent: fields.absent === true };
  }
  if ("join" in fields) {
    const id = whole(fields.join, "the id", ID_MAX);
    return { kind: "join", t: time(fields.t), node: roster.placeOf(id) ?? roster.size, id };
  }
  if ("member" in fields) {
    const presence = PRESENCES.find((known) => known === fields.presence);
    if (presence === undefined) throw new Unreadable("it does not say where the member is");
    return { kind: "member", t: time(fields.t), node: place(fields.member, "the member", roster), resource: group(fields.resource, "the resource"), presence, neighbourhood: group(fields.neighbourhood, "the neighbourhood") };
  }
  if ("lost" in fields) return { kind: "lost", t: time(fields.t), ends: ends(fields.lost, "the two nodes", roster), resource: group(fields.resource, "the resource"), message: fields.message ?? null };
  if ("fault" in fields) {
    const name = fields.fault;
    if (typeof name !== "number" && typeof name !== "string") throw new Unreadable("the fault has no name");
    return { kind: "fault", t: time(fields.t), id: clipped(String(name), 48), is: fields.is ? parseFault(fields.is, roster) : null };
  }
  if ("doubt" in fields) return { kind: "doubt", t: time(fields.t), ends: ends(fields.doubt, "the doubt", roster), resource: group(fields.resource, "the resource"), permits: permits(fields.permits) };
  if ("route" in fields) {
    const via = fields.via === null || fields.via === undefined ? null : place(fields.via, "the next hop", roster);
    return { kind: "route", t: time(fields.t), ends: ends(fields.route, "the route", roster), via };
  }
  if ("now" in fields) {
    return { kind: "now", t: time(fields.now), checked: typeof fields.checked === "number" && Number.isFinite(fields.checked) ? fields.checked : null };
  }
  if (isFields(fields.end)) {
    const { steps, t, violation, resource } = fields.end;
    return {
      kind: "end",
      t: typeof t === "number" ? time(t) : null,
      steps: typeof steps === "number" && Number.isFinite(steps) ? steps : 0,
      violation: typeof violation === "string" ? clipped(violation, 600) : null,
      about: group(resource, "the resource"),
    };
  }
  throw new Unreadable("it is no record that this page knows");
}

function parseStep(fields: Fields, roster: Roster): Step {
  return {
    kind: "step",
    t: time(fields.t),
    node: place(fields.node, "the node", roster),
    resource: group(fields.resource, "the resource"),
    input: fields.in,
    out: list(fields.out),
    refused: fields.refused === undefined || fields.refused === null ? null : clipped(variant(fields.refused)?.[0] ?? "refused", 48),
    status: isFields(fields.status) ? parseStatus(fields.status, roster) : null,
  };
}

function parseStatus(fields: Fields, roster: Roster): Status {
  const status: { -readonly [name in keyof Status]: Status[name] } = {};
  const { section } = fields;
  if (section === "remainder" || section === "waiting" || section === "critical") status.section = section;
  if (fields.permits !== undefined) status.permits = permits(fields.permits);
  if (fields.queue !== undefined) status.queue = places(fields.queue, "the queue", roster);
  const { waits_on: waitsOn } = fields;
  if (waitsOn !== undefined) status.waitsOn = places(typeof waitsOn === "number" ? [waitsOn] : waitsOn, "whom it waits on", roster);
  if (fields.height !== undefined) status.height = numbers(fields.height);
  return status;
}

function places(value: Json, what: string, roster: Roster): readonly number[] {
  return list(value).map((one) => place(one, what, roster));
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

function parseFault(value: Json, roster: Roster): Fault {
  if (!isFields(value)) throw new Unreadable("the fault says not what it is");
  return {
    kind: typeof value.kind === "string" ? clipped(value.kind, 24) : "fault",
    node: value.node === undefined || value.node === null ? null : place(value.node, "the node", roster),
    ends: value.nodes === undefined || value.nodes === null ? null : ends(value.nodes, "the cut", roster),
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

/** The place of a node that the trace names by its id. */
function place(value: Json | undefined, what: string, roster: Roster): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) throw new Unreadable(`${what} is not the number of a node`);
  const place = roster.placeOf(value);
  if (place === undefined) throw new Unreadable(`${what} is node ${value}, and there are only ${roster.size} nodes by then, and none of that number`);
  return place;
}

/** What is not said is the first. */
function group(value: Json | undefined, what: string): number {
  return value === undefined ? 0 : whole(value, what, GROUPS_MAX);
}

function names(value: Json | undefined): readonly string[] {
  return list(value).slice(0, GROUPS_MAX).filter((name): name is string => typeof name === "string").map((name) => clipped(name, 48));
}

function ends(value: Json | undefined, what: string, roster: Roster): readonly [number, number] {
  const pair = list(value);
  if (pair.length !== 2) throw new Unreadable(`${what} has not two ends`);
  return [place(pair[0], what, roster), place(pair[1], what, roster)];
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
