// Why a node waits: from its request along whom it waits on, to whoever has what it wants.
import { type Flight, type State, areTogether, fromPair, idlePermits, pairOf } from "./state";
import { capital, listWords } from "./words";

export type Ending = "served" | "held" | "flight" | "deadlock" | "lost" | "not-waiting";

export interface Why {
  /** The nodes along which the request has gone, the one that waits first. */
  readonly path: readonly number[];
  readonly sentences: readonly string[];
  readonly ending: Ending;
  /** A token that is on its way to somebody of the path. */
  readonly token: Flight | null;
}

export function whyWaits(state: State, id: number): Why {
  const node = state.nodes[id];
  const name = state.roster.idOf(id);
  if (node.section !== "waiting") {
    const inside = node.isLeft ? "may have an application of its earlier life in its critical section" : "is in its critical section";
    const words = node.section === "critical" ? inside : "does not want anything";
    return { path: [id], sentences: [`Node ${name} ${words}.`], ending: "not-waiting", token: null };
  }
  const chain = new Chain(state, id);
  while (!chain.walk());
  return chain.why();
}

class Chain {
  readonly #state: State;
  readonly #path: number[];
  readonly #sentences: string[] = [];
  #ending: Ending = "lost";
  #token: Flight | null = null;

  constructor(state: State, id: number) {
    this.#state = state;
    this.#path = [id];
  }

  /** What people call a node. */
  #id(place: number): number {
    return this.#state.roster.idOf(place);
  }

  why(): Why {
    return { path: this.#path, sentences: this.#sentences, ending: this.#ending, token: this.#token };
  }

  #end(ending: Ending, ...sentences: string[]): true {
    this.#ending = ending;
    this.#sentences.push(...sentences);
    return true;
  }

  /** One node further; whether the walk is over. */
  walk(): boolean {
    const at = this.#path[this.#path.length - 1];
    const node = this.#state.nodes[at];
    if (node.presence === "crashed") return this.#end("lost", `Node ${this.#id(at)} has crashed: whatever it knew of the request is gone.`);
    if (node.presence === "down") return this.#killed(at);
    if (node.isOff) return this.#offline(at);
    if (this.#state.isNeighbourhood && node.presence === "outside") return this.#outside(at);
    const token = tokenTo(this.#state, at);
    if (token) {
      this.#token = token;
      return this.#end("flight", `${capital(token.content.label)} is on its way from ${this.#id(token.from)} to ${this.#id(at)}.`);
    }
    const doubt = doubtOf(this.#state, (_, to) => to === at);
    if (doubt) return this.#end("held", doubt);
    if (this.#path.length > 1 || node.hasToken) {
      if (idlePermits(node).length > 0 || node.hasToken) return this.#atHolder(at);
      if (node.granted.length > 0 && node.waitsOn.length === 0) return this.#inUse(at);
    }
    const next = node.waitsOn[0];
    if (next === undefined) return this.#deadEnd(at);
    if (next === at) return this.#end("lost", `Node ${this.#id(at)} waits for itself.`);
    this.#ask(at, next);
    if (this.#path.includes(next)) {
      const ring = this.#path.slice(this.#path.indexOf(next));
      return this.#end("deadlock", `Nodes ${listWords(this.#state.roster.idsOf(ring))} wait for one another: a deadlock, unless something changes.`);
    }
    this.#path.push(next);
    return false;
  }

  /** What became of the request between two nodes of the path. */
  #ask(at: number, next: number): void {
    const { flights, nodes } = this.#state;
    const place = nodes[next].queue.indexOf(at);
    // Inside a neighbourhood without a leader every node asks all others by itself.
    const asksForItself = this.#path.length === 1 || (this.#state.isNeighbourhood && !this.#state.hasLeader);
    const verb = asksForItself ? "has asked" : "has passed the request on to";
    const under = flights.get(pairOf(at, next))?.find((flight) => this.#state.resource.asks.includes(flight.content.kind));
    if (under) this.#sentences.push(`Node ${this.#id(at)} ${verb} ${this.#id(next)}; the request is still on its way.`);
    else if (place >= 0) this.#sentences.push(`Node ${this.#id(at)} ${verb} ${this.#id(next)}, where it is ${ordinal(place + 1)} of ${nodes[next].queue.length} in the queue.`);
    else if (this.#state.hasLeader) this.#sentences.push(`Node ${this.#id(at)} takes ${this.#id(next)} for the leader.`);
    else this.#sentences.push(`Node ${this.#id(at)} waits on ${this.#id(next)}, but its request is not in the queue of ${this.#id(next)}: node ${this.#id(next)} does not know of it, or not any more.`);
  }

  #atHolder(at: number): true {
    const node = this.#state.nodes[at];
    const idle = idlePermits(node);
    const held = idle.length > 0 ? `holds ${unitWords(idle)}, not in use` : "has the token, but no unit is free";
    const inFront = node.queue[0];
    const first = inFront === undefined ? "Nobody is in its queue." : `It serves ${inFront === at ? "itself" : this.#id(inFront)} next.`;
    const paused = node.paused ? [`Node ${this.#id(at)} is paused, and does nothing until it wakes.`] : [];
    const users = idle.length > 0 ? [] : [usersWords(this.#state, at)];
    return this.#end(idle.length > 0 ? "served" : "held", `Node ${this.#id(at)} ${held}. ${first}`, ...users, ...paused);
  }

  /** It remembers everything, but does nothing with it. */
  #offline(at: number): true {
    const { permits } = this.#state.nodes[at];
    const had = permits.length > 0 ? ` It has ${unitWords(permits)}, and nobody gets ${permits.length === 1 ? "it" : "them"} meanwhile.` : "";
    return this.#end("held", `Node ${this.#id(at)} has crashed: nothing goes on there until it is back.${had}`);
  }

  /** Between two neighbourhoods nobody is there to ask. */
  #outside(at: number): true {
    return this.#end("held", `Node ${this.#id(at)} is in no neighbourhood now: it asks as soon as it has entered one.`);
  }

  /** What it had stored nobody but itself knows. */
  #killed(at: number): true {
    return this.#end("held", `Node ${this.#id(at)} was killed, and is down: nothing goes on there until it is back, and of the request it knows then only what it had stored.`);
  }

  #inUse(at: number): true {
    const { granted, isLeft } = this.#state.nodes[at];
    if (isLeft) return this.#end("held", `Node ${this.#id(at)} was killed while ${unitWords(granted)} ${granted.length === 1 ? "was" : "were"} in use there, and is back. An application of its earlier life may be using ${granted.length === 1 ? "it" : "them"} still: the request is served when that one is seen to be gone, or shows its grant and releases.`);
    return this.#end("held", `Node ${this.#id(at)} is in its critical section, and uses ${unitWords(this.#state.nodes[at].granted)}: the request is served when it releases.`);
  }

  #deadEnd(at: number): true {
    const users = usersWords(this.#state, at);
    if (this.#state.hasLeader) return this.#atLeader(at, users);
    if (this.#state.isNeighbourhood && this.#path.length === 1) return this.#end("held", `Node ${this.#id(at)} has not asked anybody yet.`, users);
    const doubt = doubtOf(this.#state, (from) => from === at);
    if (doubt) return this.#end("held", doubt, users);
    const whose = this.#path.length === 1 ? `Node ${this.#id(at)} has not asked anybody` : `Node ${this.#id(at)} waits on nobody, and holds nothing`;
    return this.#end("lost", `${whose}: the request goes no further than here.`, users);
  }

  /** In a neighbourhood the leader lends the units; news of who leads may be late. */
  #atLeader(at: number, users: string): true {
    const { nodes, flights } = this.#state;
    const asker = this.#path[this.#path.length - 2] ?? at;
    if (nodes[at].queue.includes(asker)) return this.#end("held", `Node ${this.#id(at)} has no unit to give now.`, users);
    const isHere = (place: number) => areTogether(this.#state, place, at);
    const leader = nodes.findIndex((node, place) => node.hasToken && isHere(place));
    const handsOver = ({ content, to }: Flight) => this.#state.resource.handsOver.includes(content.kind) && isHere(to);
    const token = [...flights.values()].flat().find(handsOver) ?? null;
    if (leader >= 0 && leader !== at) {
      const place = nodes[leader].queue.includes(asker) ? "has its request" : "will be asked as soon as that is known here";
      if (!this.#path.includes(leader)) this.#path.push(leader);
      return this.#end("held", `Node ${this.#id(at)} does not lead any more: node ${this.#id(leader)} has the token, and ${place}.`, users);
    }
    if (token) {
      this.#token = token;
      return this.#end("flight", `The token is on its way from ${this.#id(token.from)} to ${this.#id(token.to)}, who will be asked as soon as that is known here.`);
    }
    return this.#end("lost", `Node ${this.#id(at)} has no unit to give, and its queue does not show the request.`, users);
  }
}

/** What is on its way between two such nodes, and may have arrived or not. */
function doubtOf(state: State, concerns: (from: number, to: number) => boolean): string | null {
  for (const [pair, units] of state.doubts) {
    const [from, to] = fromPair(pair);
    const [sender, receiver] = state.roster.idsOf([from, to]);
    if (concerns(from, to)) return `${capital(unitWords(units))} ${units.length === 1 ? "was" : "were"} sent from ${sender} to ${receiver}, and ${sender} does not know yet whether ${units.length === 1 ? "it has" : "they have"} arrived: a token in doubt.`;
  }
  return null;
}

function unitWords(units: readonly number[]): string {
  return `${units.length === 1 ? "unit" : "units"} ${listWords(units)}`;
}

/** Who uses units, of those who could use those that a node waits for. */
function usersWords(state: State, asker: number): string {
  const places = state.nodes.flatMap((node, place) => (node.granted.length > 0 && areTogether(state, place, asker) ? [place] : []));
  const users = state.roster.idsOf(places);
  return users.length === 0 ? "Nobody uses a unit." : `${users.length === 1 ? "Node" : "Nodes"} ${listWords(users)} ${users.length === 1 ? "uses" : "use"} what there is now.`;
}

function tokenTo(state: State, id: number): Flight | null {
  for (const flights of state.flights.values()) {
    if (flights[0].to !== id) continue;
    const token = flights.find((flight) => flight.content.isToken);
    if (token) return token;
  }
  return null;
}

function ordinal(place: number): string {
  const ending = place % 100 > 10 && place % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th");
  return `${place}${ending}`;
}
