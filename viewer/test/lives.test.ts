// Nodes that are killed and are back with what they had stored, and applications that outlive them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chartOf } from "../src/model/sequence";
import { BOTH_ENDS, isDown } from "../src/model/state";
import { whyWaits } from "../src/model/why";
import { tell } from "../src/model/words";
import type { Trace } from "../src/trace/trace";
import { lookOf } from "../src/view/draw-nodes";
import { sectionWords } from "../src/view/node-panel";
import { header, readLines, readTrace, sameBothWays, step } from "./reading";

const told = (trace: Trace, index: number) => tell(trace, index);
/** The first line at which something is said. */
const where = (trace: Trace, words: string) => Array.from({ length: trace.length }, (_, at) => at).find((at) => told(trace, at).what === words) ?? assert.fail(words);
const grant = { permits: [0], fence: { generation: 0, counter: 1 } };
const inside = { out: [{ grant }], status: { section: "critical", permits: [0] } };

test("who was inside when its node was killed may be there still, until it shows its grant", () => {
  const trace = readTrace("krl-restarts");
  const killed = where(trace, "Node 0 was killed, and is back with what it had stored");
  const shown = where(trace, "Node 0: an application of its earlier life shows its grant of unit 0");
  const used = (index: number) => {
    const { nodes, inUse } = trace.stateAt(index);
    return [nodes[0].section, nodes[0].granted, nodes[0].isLeft, lookOf(nodes[0]), inUse];
  };
  assert.deepEqual(used(killed - 1), ["critical", [0], false, "critical", 1]);
  assert.deepEqual(used(killed), ["critical", [0], true, "left", 1]);
  assert.deepEqual(used(shown - 1), ["critical", [0], true, "left", 1], "another grant is none of its own");
  assert.deepEqual(used(shown), ["critical", [0], false, "critical", 1]);
  assert.equal(sectionWords(trace.stateAt(killed), 0), "an application of its earlier life may be in its critical section, since 1.000");
  assert.equal(sectionWords(trace.stateAt(shown), 0), "in its critical section since 1.000");
  assert.deepEqual(told(trace, killed + 1), { what: "Node 0 requests", deeds: [], refused: "an application of an earlier life of this node may still use what it was granted" });
  assert.deepEqual(told(trace, shown - 1), { what: "Node 0: an application of its earlier life shows its grant of unit 1", deeds: [], refused: "this node does not know of any such grant of an earlier life" });
  const why = whyWaits(trace.stateAt(killed), 1);
  assert.equal(why.ending, "held");
  assert.equal(why.sentences.at(-1), "Node 0 was killed while unit 0 was in use there, and is back. An application of its earlier life may be using it still: the request is served when that one is seen to be gone, or shows its grant and releases.");
});

test("a node that hears that no application is left has its unit to give", () => {
  const trace = readTrace("krl-restarts");
  const gone = where(trace, "Node 1: no application of its earlier life is left");
  const [before, after] = [gone - 1, gone].map((index) => trace.stateAt(index));
  assert.deepEqual([before.nodes[1].isLeft, before.inUse, after.nodes[1].isLeft, after.inUse], [true, 1, false, 0]);
  assert.deepEqual([after.nodes[1].section, after.nodes[1].permits], ["remainder", [0]]);
  assert.equal(told(trace, gone + 1).refused, "this node does not know of any such grant of an earlier life");
});

test("units are never made or lost over restarts", () => {
  const trace = readTrace("krl-restarts");
  for (let index = -1; index < trace.length; index++) {
    const { nodes, flights, cutOff } = trace.stateAt(index);
    const flying = [...flights.values(), ...cutOff.values()].flat().flatMap(({ content }) => content.permits);
    assert.deepEqual([...nodes.flatMap(({ permits }) => permits), ...flying], [0], `after line ${index}`);
  }
});

test("the chart says who was killed, and who shows a grant, and draws apart what may be in use", () => {
  const trace = readTrace("krl-restarts");
  const lines = Array.from({ length: trace.length }, (_, at) => at);
  const { rows, bars } = chartOf(trace, [0, 1, 2], lines);
  const texts = (id: number) => rows.filter(({ node, text }) => node === id && /killed|earlier/.test(text ?? "")).map(({ text }) => text);
  assert.deepEqual(texts(0), ["was killed, and is back", "an earlier grant is shown (refused)", "an earlier grant is shown"]);
  assert.deepEqual(texts(1), ["was killed, and is back", "no earlier application is left", "no earlier application is left (refused)"]);
  const of = (id: number) => bars.filter(({ node, kind }) => node === id && kind !== "holding" && kind !== "waiting").map(({ kind }) => kind);
  assert.deepEqual([of(0), of(1), of(2)], [["critical", "left", "critical"], ["critical", "left"], ["critical"]]);
});

test("on a field a node that was killed has no link, and its neighbours find out one by one", () => {
  const field = { field: { width: 10, height: 10, range: null }, links: [] };
  const below = (node: number, t: number, what: "up" | "down", peer: number) => step(node, t, { in: { below: { [what]: { peer, incarnation: 0 } } } });
  const met = [below(0, 1, "up", 1), below(1, 1, "up", 0), below(1, 2, "up", 2), below(2, 2, "up", 1)];
  const trace = readLines(header(3, field), ...met, step(1, 3, { in: "restart" }), below(2, 4, "down", 1), below(0, 5, "down", 1), below(1, 6, "up", 0));
  const ends = (index: number) => [[0, 1], [1, 2]].map(([a, b]) => trace.stateAt(index).links[trace.table.find(a, b)!]);
  assert.deepEqual([3, 4, 5, 6, 7].map(ends), [[BOTH_ENDS, BOTH_ENDS], [1, 2], [1, 0], [0, 0], [2, 0]]);
  sameBothWays(trace);
});

test("what was on its way to a node that was killed is lost, but for units that come late; what it has sent arrives", () => {
  const [token, news] = [{ token: { token: { permit: 0 } } }, { link_info: {} }];
  const send = (to: number, ...messages: object[]) => ({ out: messages.map((message) => ({ send: { to, message } })) });
  const hears = (node: number, t: number, from: number, message: object) => step(node, t, { in: { message: { from, incarnation: 0, message } } });
  const trace = readLines(header(2, { field: { width: 10, height: 10, range: null } }), step(0, 1, send(1, news, token)), step(1, 2, send(0, news)), step(1, 3, { in: "restart" }), hears(0, 4, 1, news), hears(1, 5, 0, token));
  const flights = [0, 1].flatMap((index) => [...trace.stateAt(index).flights.values()].flat().slice(index === 0 ? 0 : 2));
  assert.deepEqual(flights.map((flight) => trace.fateOf(flight)), [{ t: 3, fate: "lost" }, { t: 5, fate: "arrived" }, { t: 4, fate: "arrived" }]);
  assert.deepEqual([1, 2, 3, 4].map((index) => trace.stateAt(index).flightCount), [3, 1, 0, 0]);
  sameBothWays(trace);
});

/** Node 1 is killed in a neighbourhood while it uses a unit, and node 2 waits for it. */
function neighbourhood(...lines: readonly object[]): Trace {
  const members = { neighbourhoods: [{ members: [0, 1, 2] }] };
  const asks = step(2, 2, { status: { section: "waiting", waits_on: [1] } });
  const trace = readLines(header(3, { links: [] }, "klme-ft", members), step(1, 1, inside), asks, { t: 3, member: 1, presence: "down" }, ...lines);
  assert.deepEqual(trace.problems, []);
  sameBothWays(trace);
  return trace;
}

test("a member that is down is drawn like one that has crashed, and has its own word", () => {
  const trace = neighbourhood(step(0, 4, { out: [{ broadcast: { message: "beat" } }] }));
  const state = trace.stateAt(2);
  assert.equal(told(trace, 2).what, "Node 1 is killed, and comes back with what it had stored");
  assert.deepEqual([lookOf(state.nodes[1]), isDown(state.nodes[1]), sectionWords(state, 1)], ["crashed", true, "down: killed, and will be back"]);
  assert.deepEqual([state.inUse, state.nodes[1].granted], [1, [0]], "its application goes on");
  assert.equal(whyWaits(state, 2).sentences.at(-1), "Node 1 was killed, and is down: nothing goes on there until it is back, and of the request it knows then only what it had stored.");
  assert.equal(trace.stateAt(3).flightCount, 1, "it hears nothing");
});

test("a member that was killed is back, and does not enter; its lease it does not remember", () => {
  const back = { t: 4, member: 1, presence: "inside" };
  const restart = step(1, 4, { in: "restart", status: { section: "remainder", permits: [] } });
  const shows = (left: object) => step(1, 5, { in: { resume: { grant, left } }, status: { section: "critical", permits: [0] } });
  const trace = neighbourhood(back, restart, shows({ secs: 12, nanos: 500_000_000 }));
  assert.equal(told(trace, 3).what, "Node 1 is back");
  assert.deepEqual(chartOf(trace, [1], [2, 3]).rows.map(({ text }) => text), ["is killed", "is back"]);
  assert.deepEqual([3, 4, 5].map((index) => sectionWords(trace.stateAt(index), 1)), ["in its critical section since 0.000", "idle", "in its critical section since 0.000"]);
  assert.deepEqual([4, 5].map((index) => trace.stateAt(index).nodes[1].granted), [[], [0]]);
  assert.equal(told(trace, 5).what, "Node 1: an application of its earlier life shows its grant of unit 0, a lease with 12.500 to go");
});

test("a member that has crashed or departed enters when it is inside again", () => {
  for (const presence of ["crashed", "outside"]) {
    const trace = readLines(header(2, { links: [] }, "klme-ft", { neighbourhoods: [{ members: [0, 1] }] }), { t: 1, member: 1, presence }, { t: 2, member: 1, presence: "inside" });
    assert.equal(told(trace, 1).what, "Node 1 enters");
  }
});

test("a member that restarts is inside, whether or not a line says so", () => {
  const trace = neighbourhood(step(1, 4, { in: "restart" }));
  assert.deepEqual([isDown(trace.stateAt(2).nodes[1]), isDown(trace.stateAt(3).nodes[1]), trace.stateAt(3).nodes[1].isLeft], [true, false, true]);
});

test("of a restart, a grant that is shown and a presence the values are checked", () => {
  const resumes = [null, 7, "x", [], {}, { grant: null }, { grant: { permits: "all" } }, { grant: { permits: ["x", null] }, left: { secs: "long", nanos: null } }];
  const trace = readLines(header(2), step(0, 1, inside), ...resumes.map((resume) => step(0, 1, { in: { resume } })), step(0, 1, { in: { restart: { node: 7 } } }), step(0, 1, { in: { gone: [] } }), { t: 2, member: 0, presence: "asleep" });
  assert.deepEqual(trace.problems.map(({ reason }) => reason), ["it does not say where the member is"]);
  resumes.forEach((_, at) => assert.match(told(trace, at + 1).what, /^Node 0: an application of its earlier life shows its grant( of |$)/));
});
