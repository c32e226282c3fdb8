// What a violation means to whoever has not read the papers. Its own words, which are exact, stay beside it.
import { type State, areTogether } from "./state";
import { whyWaits } from "./why";
import { listWords } from "./words";

type Meaning = (found: RegExpExecArray, state: State) => string;

const MEANINGS: readonly (readonly [RegExp, Meaning])[] = [
  [/^\d+ units are in use at once, but there are only (\d+)/, ([, k], state) => `${nodeWords(users(state))} are in their critical sections at the same time, with more units than the ${k} that there ${k === "1" ? "is" : "are"}: mutual exclusion is broken.`],
  [/^permits \{([\d, ]+)\} were granted to node/, ([, units]) => `Two nodes use ${unitWords(numbers(units))} at the same time: mutual exclusion is broken.`],
  [/^permits \{([\d, ]+)\} exist twice/, ([, units]) => `${capitalUnits(numbers(units))} now twice: two nodes could use the same at the same time.`],
  [/^the permits held and in flight are \{([\d, ]*)\}, but should be \{([\d, ]*)\}/, ([, found, expected]) => lostWords(numbers(found), numbers(expected))],
  [/^nodes \[([\d, ]+)\] wait and are not served/, ([, nodes], state) => `Every message has arrived and nothing is left to happen, and yet ${waitWords(numbers(nodes))}, and will for ever. ${traceOf(state, numbers(nodes)[0])}`],
  [/^node (\d+) waits, and without a further change/, ([, node], state) => `Unless links change again, nothing that can still happen serves node ${node}. ${traceOf(state, Number(node))}`],
  [/^node (\d+) waits while the others can go round for ever/, ([, node]) => `Node ${node} starves: the others can be served again and again, in a circle, and its turn never comes.`],
  [/^messages go round for ever/, () => "Nobody wants anything, and yet every message makes another: the network never comes to rest."],
  [/^nodes \[([\d, ]+)\] have waited for more than/, ([, nodes], state) => `Nothing was broken all that time, and yet ${waitWords(numbers(nodes))}. ${traceOf(state, numbers(nodes)[0])}`],
  [/^nobody was served for/, () => "Somebody waits all that time, and a unit should have come free: nothing goes on any more."],
  [/^node (\d+) holds no token and has no lower neighbour/, ([, node]) => `Requests go downhill, from each node to a lower neighbour, until they meet a token. Node ${node} has no lower neighbour to ask: whatever comes to it goes no further.`],
  [/^node (\d+) holds a token and has no higher neighbour/, ([, node]) => `Requests come downhill, from higher neighbours. Node ${node} has none: nobody can ask it for its token.`],
  [/^node (\d+) has the direction of its link to (\d+) wrong/, ([, node, other]) => `Requests go downhill, so both ends of a link have to know which of them is lower. Node ${node} is wrong about ${other}: what one of them asks, the other may not listen to.`],
  [/^node (\d+) stands higher than it has told (\d+)/, ([, node, other]) => `Requests go downhill, so neighbours have to know how high a node is. Node ${other} takes node ${node} for lower than it is, and may ask it in vain.`],
  [/^there are 0 tokens/, () => "The token is lost: nobody can be served any more."],
  [/^there are \d+ tokens/, () => "There must be one token only. Whoever has it hands out the units, and two of them hand out the same."],
  [/sits on (?:the|an idle) token although/, () => "The token should go on as soon as somebody asks and it can be spared. Here it stays: whoever asks may wait for ever."],
  [/^(?:the request of node (\d+) is|the requests of node (\d+) are) lost/, ([, one, other]) => `On the way from node ${one ?? other} to a token somebody does not know that it is asked: the request goes no further.`],
  [/^the request of node (\d+) runs in a circle/, ([, node]) => `Those on the way of node ${node}’s request wait for one another: it never meets a token.`],
  [/^node (\d+) takes the requests of node (\d+) for another rank than they have/, ([, node, other]) => `Who is more urgent goes first. Node ${node} has node ${other} in a place of its queue that is too far in front or too far behind.`],
  [/^node (\d+) is in R_Queue, and will ask every new leader again/, ([, node]) => `The token has the request of node ${node} already, and nobody has told node ${node} so: it asks anew whenever the token moves, for nothing.`],
  [/has left its CS, and nobody will tell the leader/, () => "The leader takes the unit for used, and will never lend it to anybody else."],
];

/** A plain sentence or two; the state is the one at the violation. */
export function meaningOf(violation: string, state: State): string {
  for (const [pattern, meaning] of MEANINGS) {
    const found = pattern.exec(violation);
    if (found) return meaning(found, state);
  }
  return "The algorithm is right only as long as this never happens.";
}

function numbers(list: string): readonly number[] {
  return list.split(",").filter((part) => part.trim() !== "").map(Number);
}

/** Who uses units where the run ended. */
function users(state: State): readonly number[] {
  const isThere = (place: number) => state.actor === null || areTogether(state, place, state.actor);
  return state.roster.idsOf(state.nodes.flatMap((node, place) => (node.granted.length > 0 && isThere(place) ? [place] : [])));
}

function nodeWords(nodes: readonly number[]): string {
  return nodes.length === 1 ? `Node ${nodes[0]}` : `Nodes ${listWords(nodes)}`;
}

function unitWords(units: readonly number[]): string {
  return units.length === 1 ? `unit ${units[0]}` : `units ${listWords(units)}`;
}

function capitalUnits(units: readonly number[]): string {
  return units.length === 1 ? `Unit ${units[0]} is there` : `Units ${listWords(units)} are there`;
}

function waitWords(nodes: readonly number[]): string {
  return nodes.length === 1 ? `node ${nodes[0]} waits` : `nodes ${listWords(nodes)} wait`;
}

function lostWords(found: readonly number[], expected: readonly number[]): string {
  const lost = expected.filter((unit) => !found.includes(unit));
  if (lost.length === 0) return "There are units that should not exist.";
  const [one, are, them] = lost.length === 1 ? [`Unit ${lost[0]}`, "is", "it"] : [`Units ${listWords(lost)}`, "are", "them"];
  return `${one} ${are} lost: nobody has ${them}, and no message brings ${them}. Nobody can use ${them} any more.`;
}

/** Where the request of a node has got to. */
function traceOf(state: State, node: number): string {
  const place = state.roster.placeOf(node) ?? -1;
  if (state.nodes[place]?.section !== "waiting") return "";
  return whyWaits(state, place).sentences.slice(-2).join(" ");
}
