import assert from "node:assert/strict";
import { test } from "node:test";
import { whyWaits } from "../src/model/why";
import { header, readLines, readTrace, step } from "./reading";

const waiting = (waitsOn: number[], queue: number[] = []) => ({ status: { section: "waiting", waits_on: waitsOn, queue } });

test("a request that is in the holder's queue", () => {
  const start = [{ section: "remainder", permits: [0], queue: [], waits_on: null }];
  const trace = readLines(header(3, {}, "krl", { start }), step(1, 1, waiting([0], [1])), step(0, 2, { status: { queue: [1] } }));
  const why = whyWaits(trace.stateAt(1), 1);
  assert.deepEqual(why.path, [1, 0]);
  assert.equal(why.ending, "served");
  assert.match(why.sentences.join(" "), /1st of 1 in the queue.*holds unit 0, not in use/s);
});

test("a request that is still on its way", () => {
  const trace = readLines(header(3), step(1, 1, { ...waiting([0]), out: [{ send: { to: 0, message: { request: {} } } }] }));
  assert.match(whyWaits(trace.stateAt(0), 1).sentences[0], /still on its way/);
});

test("a token in flight to the one that waits", () => {
  const token = { token: { token: { permit: 0 } } };
  const trace = readLines(header(3), step(1, 1, waiting([0])), step(0, 2, { out: [{ send: { to: 1, message: token } }], status: { permits: [] } }));
  const why = whyWaits(trace.stateAt(1), 1);
  assert.equal(why.ending, "flight");
  assert.equal(why.token?.from, 0);
});

test("nodes that wait for one another", () => {
  const trace = readLines(header(4), step(0, 0, { status: { permits: [] } }), step(1, 1, waiting([2], [2, 3])), step(2, 2, waiting([1], [1])), step(3, 3, waiting([1])));
  const why = whyWaits(trace.stateAt(3), 3);
  assert.equal(why.ending, "deadlock");
  assert.match(why.sentences.at(-1)!, /1 and 2 wait for one another: a deadlock/);
});

test("a request that nobody knows of", () => {
  const trace = readLines(header(3), step(0, 0, { status: { permits: [] } }), step(1, 1, waiting([2])));
  const why = whyWaits(trace.stateAt(1), 1);
  assert.equal(why.ending, "lost");
  assert.match(why.sentences.join(" "), /node 2 does not know of it/);
});

test("somebody in its critical section", () => {
  const grant = { out: [{ grant: { permits: [0] } }], status: { section: "critical", queue: [1] } };
  const trace = readLines(header(3), step(0, 0, grant), step(1, 1, waiting([0])));
  const why = whyWaits(trace.stateAt(1), 1);
  assert.equal(why.ending, "held");
  assert.match(why.sentences.at(-1)!, /is served when it releases/);
});

test("where no node leads, a node waits for the leave of others, and nothing is lost", () => {
  const inside = { neighbourhoods: [{ members: [0, 1, 2] }] };
  const begin = header(3, { links: [] }, "permission", inside);
  const grant = { out: [{ grant: { permits: [0] } }], status: { section: "critical", permits: [0], queue: [1] } };
  const trace = readLines(begin, step(0, 0, grant), step(1, 1, waiting([0], [2])), step(2, 2, waiting([1])), step(2, 3, waiting([])));
  const told = (index: number) => whyWaits(trace.stateAt(index), 2);
  assert.deepEqual(told(2).path, [2, 1, 0]);
  assert.equal(told(2).ending, "held");
  assert.match(told(2).sentences.join(" "), /has asked 1, where it is 1st of 1.*Node 1 has asked 0, where.*uses unit 0/s);
  assert.doesNotMatch(told(2).sentences.join(" "), /leader|token/);
  assert.deepEqual([told(3).ending, told(3).sentences[0]], ["held", "Node 2 has not asked anybody yet."]);
});

test("krl's deadlock is found in its counterexample", () => {
  const trace = readTrace("krl-deadlock");
  const state = trace.stateAt(trace.length - 1);
  const stuck = state.nodes.findIndex((node) => node.section === "waiting");
  const why = whyWaits(state, stuck);
  assert.ok(why.sentences.length > 0);
  assert.notEqual(why.ending, "flight");
});

test("every walk ends, at every instant of every trace", () => {
  for (const name of ["krl", "klme", "hok-counterexample", "klme-ft-counterexample"]) {
    const trace = readTrace(name);
    for (let index = 0; index < trace.length; index++) {
      const state = trace.stateAt(index);
      for (let id = 0; id < state.nodes.length; id++) assert.ok(whyWaits(state, id).sentences.length > 0);
    }
  }
});
