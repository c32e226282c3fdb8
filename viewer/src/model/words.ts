// A line in words: what happened, and what the node did about it.
import { type Fault, type Fields, type Json, type Line, type Point, type Presence, type Shape, type Step, clipped, isFields, variant } from "../trace/record";
import type { Roster } from "../trace/roster";
import type { Trace } from "../trace/trace";
import { contentOf, spoken } from "./message";

/** One thing that a node did in a step. */
export type Deed = { readonly clause: string } | { readonly words: string; readonly strong: boolean };

export interface Told {
  readonly what: string;
  readonly deeds: readonly Deed[];
  readonly refused: string | null;
}

const PRESENCE_WORDS: Readonly<Record<Presence, string>> = {
  inside: "enters",
  outside: "departs",
  crashed: "crashes",
  down: "is killed, and comes back with what it had stored",
};

/** Why a node turns an input away. */
const REFUSALS = new Map([
  ["already_waiting", "the application has asked already, and still waits"],
  ["already_holding", "the application has what it was granted, and must release it first"],
  ["too_many_units", "so many units are never granted at once"],
  ["still_withdrawing", "a cancelled request for other units is still on its way"],
  ["not_holding", "the application has nothing that it could release"],
  ["left_in_use", "an application of an earlier life of this node may still use what it was granted"],
  ["not_left", "this node does not know of any such grant of an earlier life"],
  ["not_waiting", "the application waits for nothing that it could cancel"],
  ["unknown_sender", "the sender is no neighbour"],
  ["wrong_incarnation", "the message is of former times"],
  ["own_link", "it would be a link of the node to itself"],
  ["link_already_up", "the link is there already"],
  ["no_such_link", "there is no such link"],
  ["already_inside", "the node is in a neighbourhood already, or about to leave it"],
  ["outside", "the node is in no neighbourhood"],
]);

const SECONDS = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 3, maximumFractionDigits: 3 });

/** Times are in the papers' units: a second each. */
export function timeWords(t: number): string {
  return SECONDS.format(t / 1e9);
}

/** A line of a trace. */
export function tell(trace: Trace, index: number): Told {
  const [line, { roster }] = [trace.line(index), trace];
  const id = (place: number) => roster.idOf(place);
  const plain = (what: string): Told => ({ what, deeds: [], refused: null });
  switch (line.kind) {
    case "step":
      return { what: happening(line, id(line.node)), deeds: deeds(line.out), refused: line.refused && (REFUSALS.get(line.refused) ?? spoken(line.refused)) };
    case "link":
      return plain(`Link ${linkWords(line.ends, roster)} ${line.up ? "forms" : "fails"}`);
    case "join":
      return plain(`Node ${line.id} joins`);
    case "member":
      return plain(`Node ${id(line.node)} ${presenceWords(trace, index, line)}`);
    case "lost":
      return plain(`${line.message === null ? "A message" : capital(contentOf(line.message).label)} from ${id(line.ends[0])} to ${id(line.ends[1])} is lost`);
    case "move":
      return plain(`Node ${id(line.node)} ${line.absent ? "is not there" : "changes its direction"}`);
    case "fault": {
      const over = trace.overAt(index);
      return plain(line.is ? begunWords(line.is, roster) : over ? overWords(over, roster) : `Fault ${line.id} is over`);
    }
    case "doubt":
      return plain(line.permits.length > 0 ? `The token between ${id(line.ends[0])} and ${id(line.ends[1])} is in doubt` : `The doubt between ${id(line.ends[0])} and ${id(line.ends[1])} is settled`);
    case "route":
      return plain(line.via === null ? `Node ${id(line.ends[0])} has no route to ${id(line.ends[1])} any more` : `Node ${id(line.ends[0])} reaches ${id(line.ends[1])} by ${id(line.via)}`);
    case "end":
      return plain(line.violation ? `Violated: ${line.violation}` : "The end of the run");
    case "now":
      return plain("Nothing else has happened");
  }
}

/** What has become of a member: it may have been killed where it is. */
export function presenceWords(trace: Trace, index: number, { presence, neighbourhood }: Extract<Line, { kind: "member" }>): string {
  if (trace.isBackAt(index)) return "is back";
  return presence === "inside" && trace.resource.neighbourhoods.length > 1 ? `enters neighbourhood ${neighbourhood}` : PRESENCE_WORDS[presence];
}

/** The ends of a link, the lower id first. */
export function linkWords(ends: readonly number[], roster: Roster): string {
  return [...roster.idsOf(ends)].sort((a, b) => a - b).join("–");
}

function begunWords(fault: Fault, roster: Roster): string {
  const { kind, node, ends } = idsIn(fault, roster);
  if (kind === "crash" && node !== null) return `Node ${node} crashes`;
  if (kind === "pause" && node !== null) return `Node ${node} is paused`;
  if (kind === "cut" && ends) return `Nodes ${ends[0]} and ${ends[1]} are cut off from each other`;
  return `${capital(nameOf(fault, roster))} begins`;
}

function overWords(fault: Fault, roster: Roster): string {
  const { kind, node, ends } = idsIn(fault, roster);
  if (kind === "crash" && node !== null) return `Node ${node} is back`;
  if (kind === "pause" && node !== null) return `Node ${node} goes on after its pause`;
  if (kind === "cut" && ends) return `Nodes ${ends[0]} and ${ends[1]} are cut off from each other no more`;
  return `${capital(nameOf(fault, roster))} is over`;
}

/** What it is, whom it concerns, and where. */
function nameOf(fault: Fault, roster: Roster): string {
  const { node, ends } = idsIn(fault, roster);
  const whose = ends ? ` between ${ends[0]} and ${ends[1]}` : node === null ? "" : ` of node ${node}`;
  const share = fault.loss === null ? "" : ` of ${Math.round(fault.loss * 100)}%`;
  return `the ${spoken(fault.kind)}${share}${whose}${fault.shape ? ` ${placeWords(fault.shape)}` : ""}`;
}

/** What it is and whom it concerns, by ids. */
function idsIn({ kind, node, ends }: Fault, roster: Roster) {
  return { kind, node: node === null ? null : roster.idOf(node), ends: ends && roster.idsOf(ends) };
}

function placeWords(shape: Shape): string {
  const at = ([x, y]: Point) => `(${Math.round(x)}, ${Math.round(y)})`;
  if (shape.form === "disc") return `within ${Math.round(shape.radius)} m of ${at(shape.centre)}`;
  return shape.form === "rectangle" ? `from ${at(shape.from)} to ${at(shape.to)}` : `along the line through ${at(shape.from)} and ${at(shape.to)}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function happening(step: Step, id: number): string {
  const [kind, content] = variant(step.input) ?? ["step", null];
  const fields: Fields = isFields(content) ? content : {};
  switch (kind) {
    case "message":
      return `Node ${id} receives ${contentOf(fields.message).label} from ${number(fields.from)}`;
    case "undelivered":
      return `Returned to ${id}: ${contentOf(fields.message).label} for ${number(fields.to)}`;
    case "below":
      return content === "leaving" ? `Node ${id} is about to leave` : `Node ${id} ${belowWords(content)}`;
    case "resume":
    case "gone":
      return `Node ${id}: ${wordsFor(kind, content)}`;
    default:
      return `Node ${id} ${wordsFor(kind, content)}`;
  }
}

function belowWords(content: Json): string {
  const [kind, detail] = variant(content) ?? ["learns of a change", null];
  const peer = isFields(detail) ? number(detail.peer) : "?";
  switch (kind) {
    case "up":
      return `has a link to ${peer} now`;
    case "down":
      return `has no link to ${peer} any more`;
    case "met":
      return `learns that ${peer} is here`;
    case "parted":
      return `learns that ${peer} has gone`;
    case "entered":
      return "has entered";
    default:
      return clipped(spoken(kind), 48);
  }
}

/** What a node's own input is called. */
export function wordsFor(kind: string, content: Json): string {
  switch (kind) {
    case "request":
      return demandWords(isFields(content) ? content : {});
    case "cancel":
      return "cancels";
    case "release":
      return "releases";
    case "restart":
      return "was killed, and is back with what it had stored";
    case "resume":
      return `an application of its earlier life shows its grant${shownWords(isFields(content) ? content : {})}`;
    case "gone":
      return "no application of its earlier life is left";
    case "timer":
      return `is woken by its timer: ${clipped(spoken(variant(content)?.[0] ?? "timer"), 48)}`;
    default: {
      const inner = variant(content);
      return clipped(inner ? `${spoken(kind)}: ${spoken(inner[0])}` : spoken(kind), 48);
    }
  }
}

/** Which grant is shown, and for how long it is still good, if it is a lease. */
function shownWords({ grant, left }: Fields): string {
  const units = isFields(grant) && Array.isArray(grant.permits) && grant.permits.length > 0 ? ` of ${permitWords(grant.permits)}` : "";
  const { secs, nanos } = isFields(left) ? left : {};
  const togo = (typeof secs === "number" ? secs * 1e9 : 0) + (typeof nanos === "number" ? nanos : 0);
  return togo > 0 ? `${units}, a lease with ${timeWords(togo)} to go` : units;
}

function demandWords(demand: Fields): string {
  const units = typeof demand.units === "number" && demand.units > 1 ? ` ${demand.units} units` : "";
  const priority = typeof demand.priority === "number" && demand.priority > 0 ? ` with priority ${demand.priority}` : "";
  const deadline = typeof demand.deadline === "number" ? ` by ${demand.deadline}` : "";
  return `requests${units}${priority}${deadline}`;
}

function deeds(out: readonly Json[]): readonly Deed[] {
  const done: Deed[] = [];
  for (const effect of out) {
    const [kind, content] = variant(effect) ?? ["", null];
    const fields: Fields = isFields(content) ? content : {};
    const say = (words: string, strong = false) => done.push({ words, strong });
    if (kind === "clause" && typeof content === "string") done.push({ clause: clipped(content, 48) });
    else if (kind === "send") say(`sends ${contentOf(fields.message).label} to ${number(fields.to)}`);
    else if (kind === "broadcast") say(`broadcasts ${contentOf(fields.message).label}`);
    else if (kind === "grant") say(`is granted ${permitWords(fields.permits)}`, true);
    else if (kind === "revoke") say("must stop, and waits again", true);
    else if (kind === "depart") say("departs", true);
    else if (kind === "arm") say(`arms its timer: ${clipped(spoken(variant(fields.timer)?.[0] ?? "timer"), 48)}`);
    else if (kind === "disarm") say("disarms a timer");
  }
  return done;
}

function permitWords(permits: Json | undefined): string {
  if (!Array.isArray(permits) || permits.length === 0) return "what it asked for";
  return `${permits.length === 1 ? "unit" : "units"} ${permits.slice(0, 16).map(number).join(", ")}${permits.length > 16 ? ", …" : ""}`;
}

function number(value: Json | undefined): string {
  return typeof value === "number" ? String(value) : "?";
}

/** "3, 5 and 7"; long lists are cut. */
export function listWords(ids: readonly number[], most = 12): string {
  if (ids.length === 0) return "nobody";
  if (ids.length > most) return `${ids.slice(0, most).join(", ")} and ${ids.length - most} more`;
  return ids.length === 1 ? String(ids[0]) : `${ids.slice(0, -1).join(", ")} and ${ids[ids.length - 1]}`;
}
