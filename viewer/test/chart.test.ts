import assert from "node:assert/strict";
import { test } from "node:test";
import { chartOf, linesOf, nodesAround } from "../src/model/sequence";
import { seriesOf } from "../src/model/series";
import { tell } from "../src/model/words";
import { header, readLines, readTrace, step } from "./reading";

test("a counterexample's chart has a row for every line and an arrow for every message", () => {
  const trace = readTrace("klme-ft-counterexample");
  const nodes = nodesAround(trace, 0);
  const lines = linesOf(trace, new Set(nodes), 0, null);
  const chart = chartOf(trace, nodes, lines);
  assert.equal(chart.rows.length, 9);
  assert.deepEqual(chart.lifelines, [0, 1, 2]);
  assert.match(chart.violation!, /2 units are in use at once/);
  const arrived = chart.arrows.filter((arrow) => arrow.fate === "arrived");
  assert.equal(arrived.length, 6);
  assert.ok(arrived.every((arrow) => arrow.sent !== null && arrow.ended !== null && arrow.sent < arrow.ended));
});

test("a chosen range and chosen nodes are kept to", () => {
  const trace = readTrace("krl");
  const [from, to] = [trace.t.at(20), trace.t.at(60)];
  const lines = linesOf(trace, new Set([0, 1]), 0, [from, to]);
  assert.ok(lines.length > 0);
  for (const index of lines) {
    assert.ok(trace.t.at(index) >= from && trace.t.at(index) <= to);
    assert.ok([0, 1].includes(trace.who.at(index)));
  }
});

test("who comes and goes is written at its lifeline", () => {
  const below = (node: number, what: object | string) => step(node, 1, { in: { below: what } });
  const trace = readLines(header(2), below(0, "leaving"), below(0, { entered: { stay: 1 } }), below(1, { met: { peer: 0 } }), below(1, { parted: { peer: 0 } }), below(1, { up: { peer: 0, incarnation: 0 } }));
  assert.deepEqual(chartOf(trace, [0, 1], [0, 1, 2, 3, 4]).rows.map(({ text }) => text), ["is about to leave", "has entered", "0 is here", "0 has gone", null]);
});

test("the curves never lose a peak", () => {
  const trace = readTrace("krl");
  const series = seriesOf(trace);
  let most = 0;
  for (let index = 0; index < trace.length; index++) most = Math.max(most, trace.waiting.at(index));
  assert.equal(Math.max(...series.waiting), most);
  assert.ok(series.t.every((t, at) => at === 0 || t >= series.t[at - 1]));
});

test("a step is told with what it received, its clauses and its deeds", () => {
  const trace = readTrace("hok-counterexample");
  const told = tell(trace, 2);
  assert.equal(told.what, "Node 0 receives request (0,1,1) from 1");
  assert.deepEqual(told.deeds, [{ clause: "recv-request.2" }, { clause: "recv-request.3" }]);
  assert.equal(tell(trace, 3).what, "Violated: node 0 sits on the token although 1 asks for it");
});
