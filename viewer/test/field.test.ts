import assert from "node:assert/strict";
import { test } from "node:test";
import { cutsOf, isDown, linkedTo } from "../src/model/state";
import { whyWaits } from "../src/model/why";
import { Camera } from "../src/view/camera";
import { lookOf } from "../src/view/draw-nodes";
import { sectionWords } from "../src/view/node-panel";
import { extent, project } from "../src/view/scene";
import { tell } from "../src/model/words";
import { header, readLines, step } from "./reading";

const below = (node: number, t: number, what: "up" | "down", peer: number) => step(node, t, { in: { below: { [what]: { peer, incarnation: 0 } } } });
const token = { token: { token: { permit: 0 } } };
const none = { links: [] };

test("on a field a link is there for one end before it is for the other", () => {
  const trace = readLines(header(3, none), below(0, 1, "up", 2), below(2, 2, "up", 0), below(0, 3, "down", 2));
  const slot = trace.table.find(0, 2)!;
  assert.deepEqual([0, 1, 2].map((index) => trace.stateAt(index).links[slot]), [1, 3, 2]);
});

test("what was sent before a link failed is under way no more, and is found when it comes back", () => {
  const sent = step(0, 2, { out: [{ send: { to: 1, message: token } }] });
  const back = step(0, 4, { in: { undelivered: { to: 1, message: token } } });
  const trace = readLines(header(2), sent, below(0, 3, "down", 1), back);
  const flight = [...trace.stateAt(0).flights.values()][0][0];
  assert.equal(trace.stateAt(1).flightCount, 0);
  assert.deepEqual(trace.fateOf(flight), { t: 4, fate: "returned" });
});

test("a message that arrives although one end has given the link up is the one that was sent", () => {
  const sent = step(0, 2, { out: [{ send: { to: 1, message: token } }] });
  const late = step(1, 4, { in: { message: { from: 0, incarnation: 0, message: token } } });
  const trace = readLines(header(2), sent, below(0, 3, "down", 1), late);
  const flight = [...trace.stateAt(0).flights.values()][0][0];
  assert.deepEqual(trace.fateOf(flight), { t: 4, fate: "arrived" });
});

test("on a field the ends' own steps count, not the line that tells of a link", () => {
  const field = { field: { width: 10, height: 10, range: null } };
  const trace = readLines(header(3, { ...none, ...field }), below(0, 1, "up", 2), { t: 2, link: [0, 2], up: true, incarnation: 0 }, below(2, 2, "up", 0), { t: 3, link: [0, 2], up: false, incarnation: 0 }, below(0, 3, "down", 2));
  assert.deepEqual([2, 4].map((index) => trace.stateAt(index).links[trace.table.find(0, 2)!]), [3, 2]);
  assert.deepEqual(trace.problems, []);
});

test("a node that was off is back with what it had; one that has forgotten it is not", () => {
  const start = [{ section: "remainder", permits: [0], queue: [1], waits_on: null, height: [0, 0, 0] }, { section: "waiting", permits: [], queue: [], waits_on: 0 }];
  const crash = { kind: "crash", node: 0, "back-after": 5, memory: "kept" };
  const trace = readLines(header(2, {}, "krl", { start }), { t: 1, fault: 1, is: crash }, { t: 2, fault: 1, is: null }, { t: 3, fault: 2, is: crash }, { t: 3, member: 0, presence: "crashed" }, { t: 4, fault: 2, is: null }, { t: 4, member: 0, presence: "inside" });
  assert.deepEqual(whyWaits(trace.stateAt(0), 1).sentences.at(-1), "Node 0 has crashed: nothing goes on there until it is back. It has unit 0, and nobody gets it meanwhile.");
  const seen = [0, 1, 3, 5].map((index) => trace.stateAt(index).nodes[0]).map((node) => [isDown(node), node.permits.length]);
  assert.deepEqual(seen, [[true, 1], [false, 1], [true, 0], [false, 0]]);
});

test("the header says what nodes know at the start; without that nothing is known", () => {
  const start = [{ section: "waiting", permits: [1], queue: [0], waits_on: 2, height: [1, 2, 0] }];
  const first = readLines(header(3, {}, "krl", { start })).stateAt(-1);
  assert.deepEqual([first.nodes[0].waitsOn, first.nodes[0].height, first.waiting, first.nodes[1].permits], [[2], [1, 2, 0], 1, []]);
  assert.equal(readLines(header(2)).stateAt(-1).nodes[0].height, null);
});

test("a cut is between two nodes, and ends", () => {
  const trace = readLines(header(3), { t: 1, fault: 1, is: { kind: "cut", nodes: [0, 2], lasts: 1.8e10 } }, { t: 2, fault: 1, is: null });
  assert.deepEqual([0, 1].map((index) => cutsOf(trace.stateAt(index))), [[[0, 2]], []]);
  assert.equal(tell(trace, 0).what, "Nodes 0 and 2 are cut off from each other");
  assert.deepEqual([linkedTo(trace.stateAt(0), trace.table, 0), linkedTo(trace.stateAt(1), trace.table, 0)], [[1, 2], [1]]);
});

test("faults come and go", () => {
  const trace = readLines(header(2),
    { t: 1, fault: 1, is: { kind: "crash", node: 0 } }, { t: 2, fault: 2, is: { kind: "pause", node: 1 } },
    { t: 3, fault: "j", is: { kind: "jam", disc: { centre: [1, 2], radius: 3 } } }, { t: 4, fault: 1, is: null }, { t: 5, fault: 2, is: null });
  assert.equal(isDown(trace.stateAt(0).nodes[0]), true);
  assert.equal(trace.stateAt(1).nodes[1].paused, true);
  assert.equal(isDown(trace.stateAt(3).nodes[0]), false);
  assert.deepEqual([...trace.stateAt(4).faults.keys()], ["j"]);
});

test("the end of a fault says which one it was, and whom it concerned", () => {
  const faults = [
    { kind: "crash", node: 0 }, { kind: "pause", node: 1 }, { kind: "cut", nodes: [0, 1], lasts: 1 }, { kind: "jam", disc: { centre: [1, 2], radius: 30 } },
    { kind: "loss", loss: 0.3, rectangle: { from: [0, 0], to: [5, 6] } }, { kind: "partition", line: { from: [5, 0], to: [5, 9] } },
  ];
  const begun = faults.map((is, fault) => ({ t: fault, fault, is }));
  const trace = readLines(header(2), ...begun, ...faults.map((_, fault) => ({ t: 9, fault, is: null })), { t: 9, fault: 77, is: null });
  const told = Array.from({ length: trace.length }, (_, index) => tell(trace, index).what);
  assert.deepEqual(told.slice(0, 6), [
    "Node 0 crashes", "Node 1 is paused", "Nodes 0 and 1 are cut off from each other", "The jam within 30 m of (1, 2) begins",
    "The loss of 30% from (0, 0) to (5, 6) begins", "The partition along the line through (5, 0) and (5, 9) begins",
  ]);
  assert.deepEqual(told.slice(6), [
    "Node 0 is back", "Node 1 goes on after its pause", "Nodes 0 and 1 are cut off from each other no more", "The jam within 30 m of (1, 2) is over",
    "The loss of 30% from (0, 0) to (5, 6) is over", "The partition along the line through (5, 0) and (5, 9) is over", "Fault 77 is over",
  ]);
});

test("whoever waits for a token in doubt is told so", () => {
  const asks = step(1, 1, { status: { section: "waiting", waits_on: [0], queue: [1] } });
  const trace = readLines(header(3), step(0, 0, { status: { permits: [] } }), asks, { t: 2, doubt: [0, 1], permits: [0] }, { t: 3, doubt: [0, 1], permits: [] }, { t: 4, doubt: [0, 2], permits: [0] });
  const why = (index: number) => whyWaits(trace.stateAt(index), 1);
  assert.deepEqual([why(1).ending, why(2).ending, why(4).ending], ["lost", "held", "held"]);
  assert.equal(why(2).sentences.at(-1), "Unit 0 was sent from 0 to 1, and 0 does not know yet whether it has arrived: a token in doubt.");
  assert.match(why(4).sentences.join(" "), /Unit 0 was sent from 0 to 2/);
});

test("doubts and routes are told and taken back", () => {
  const trace = readLines(header(3), { t: 1, doubt: [0, 1], permits: [0] }, { t: 1, route: [0, 2], via: 1 }, { t: 2, doubt: [0, 1], permits: [] }, { t: 2, route: [0, 2], via: null });
  assert.equal(trace.stateAt(1).doubts.size, 1);
  assert.equal(trace.stateAt(1).routes[0]?.get(2), 1);
  assert.equal(trace.stateAt(3).doubts.size, 0);
  assert.equal(trace.stateAt(3).routes[0]?.size, 0);
});

test("of a stream the clock and what was checked are kept, not the lines", () => {
  const trace = readLines(header(2), step(0, 1, {}), { now: 5, checked: 7 }, { now: 9, checked: 8 });
  assert.deepEqual([trace.length, trace.last, trace.checked], [1, 9, 8]);
});

test("before anything has happened a node is drawn where it is first said to be", () => {
  const field = { field: { width: 100, height: 100, range: null } };
  const trace = readLines(header(3, field), { t: 0, move: 1, at: [30, 40], velocity: [1, 0] }, { t: 5e9, move: 1, at: [35, 40], velocity: [0, 0] });
  const [camera, x, y] = [new Camera(), new Float64Array(3), new Float64Array(3)];
  camera.resize(500, 500);
  camera.fit({ left: 0, top: 0, right: 100, bottom: 100 });
  project(trace, trace.stateAt(-1), 0, camera, { places: [], areas: null }, 1, x, y);
  assert.deepEqual([x[1], y[1]], [camera.screenX(30), camera.screenY(40)]);
});

test("a node that is absent is drawn as one that is not there, also before anything has happened", () => {
  const field = { field: { width: 100, height: 100, range: null } };
  const here = { at: [30, 40], velocity: [1, 0] };
  const waits = step(1, 2e9, { status: { section: "waiting", waits_on: [0], queue: [1] } });
  const trace = readLines(header(2, field), { t: 0, move: 0, ...here, absent: true }, { t: 0, move: 1, ...here }, { t: 1e9, move: 0, ...here }, waits, { t: 3e9, move: 1, ...here, absent: true });
  const looks = [-1, 1, 2, 3, 4].map((index) => trace.stateAt(index).nodes.map(lookOf));
  assert.deepEqual(looks, [["outside", "remainder"], ["outside", "remainder"], ["remainder", "remainder"], ["remainder", "waiting"], ["remainder", "outside"]]);
  assert.equal(sectionWords(trace.stateAt(4), 1), "not there");
  assert.equal(tell(trace, 4).what, "Node 1 is not there");
  assert.deepEqual(trace.problems, []);
});

test("the plane that is in sight begins at its corner, which need not be the origin", () => {
  const at = (field: object) => extent(readLines(header(2, { field: { width: 30, height: 20, range: null, ...field } })));
  assert.deepEqual(at({ origin: [-500, 7e6] }), { left: -500, top: 7e6, right: -470, bottom: 7e6 + 20 });
  assert.deepEqual(at({}), { left: 0, top: 0, right: 30, bottom: 20 });
});
