// Several resources, several neighbourhoods, and nodes that join.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Areas } from "../src/model/areas";
import { placeBeside } from "../src/model/layout";
import { inUseByArea } from "../src/model/state";
import { meaningOf } from "../src/model/violation";
import { whyWaits } from "../src/model/why";
import { tell } from "../src/model/words";
import { Camera } from "../src/view/camera";
import { parseNodes } from "../src/view/chart-view";
import { project } from "../src/view/scene";
import { header, readLines, readTrace, resource, sameBothWays, step } from "./reading";

const reasons = (head: object, ...lines: object[]) => readLines(head, ...lines).problems.map(({ reason }) => reason);
const waits = (waitsOn: number[], queue: number[] = []) => ({ status: { section: "waiting", waits_on: waitsOn, queue } });
const grants = (permits: number[]) => ({ out: [{ grant: { permits } }], status: { section: "critical", permits } });

/** Two neighbourhoods: 0 and 1, whose leader is 0; 2 and 3, whose leader is 3. Node 4 is in neither. */
const leads = { section: "remainder", permits: [0], queue: [], waits_on: null };
const idle = { ...leads, permits: [] };
const TWO = header(5, { links: [] }, "klme", { neighbourhoods: [{ members: [0, 1] }, { members: [3, 2] }], start: [leads, idle, idle, leads, idle] });

test("a broadcast stays in its neighbourhood", () => {
  const trace = readLines(TWO, step(0, 1, { out: [{ broadcast: { message: "news" } }] }), { t: 2, member: 4, presence: "inside", neighbourhood: 1 }, step(3, 3, { out: [{ broadcast: { message: "news" } }] }));
  const reached = (index: number) => [...trace.stateAt(index).flights.values()].flat().map(({ from, to }) => `${from}>${to}`);
  assert.deepEqual(reached(0), ["0>1"]);
  assert.deepEqual(reached(2), ["0>1", "3>2", "3>4"]);
  sameBothWays(trace);
});

test("each neighbourhood has its own leader and its own units", () => {
  const trace = readLines(TWO, step(3, 1, { status: { permits: [] } }), step(2, 2, grants([0])), step(1, 3, waits([])), step(4, 4, waits([])));
  const state = trace.stateAt(3);
  assert.deepEqual(inUseByArea(state), [0, 1]);
  const why = whyWaits(state, 1);
  assert.deepEqual([why.path, why.ending], [[1, 0], "held"]);
  assert.match(why.sentences.join(" "), /node 0 has the token.*Nobody uses a unit\./, "what is used elsewhere is of no use here");
  assert.match(whyWaits(state, 4).sentences.join(" "), /^Node 4 is in no neighbourhood now: it asks as soon as it has entered one\.$/);
});

test("a node takes a seat that is free, and keeps it until it takes another", () => {
  const enters = (t: number, member: number, neighbourhood: number) => ({ t, member, presence: "inside", neighbourhood });
  const leaves = (t: number, member: number) => ({ t, member, presence: "outside" });
  const trace = readLines(TWO, enters(1, 4, 0), leaves(2, 1), enters(3, 1, 1), enters(4, 3, 0), leaves(5, 4), enters(6, 4, 0));
  const seats = trace.stateAt(5).nodes.map(({ area, seat }) => [area, seat]);
  assert.deepEqual(seats, [[0, 0], [1, 2], [1, 1], [0, 1], [0, 2]]);
  assert.equal(tell(trace, 2).what, "Node 1 enters neighbourhood 1");
  sameBothWays(trace);
});

test("a run of klme in three neighbourhoods is understood, and no neighbourhood uses more than it has", () => {
  const trace = readTrace("klme-neighbourhoods");
  assert.deepEqual(trace.problems, []);
  const { k, neighbourhoods } = trace.resource;
  assert.equal(neighbourhoods.length, 3);
  let moved = 0;
  for (let index = 0; index < trace.length; index++) {
    const state = trace.stateAt(index);
    assert.ok(inUseByArea(state).every((units) => units <= k), `after line ${index}`);
    for (let area = 0; area < 3; area++) {
      const tokens = state.nodes.filter((node) => node.area === area && node.presence === "inside" && node.hasToken).length;
      assert.ok(tokens <= 1, `${tokens} tokens in ${area} after line ${index}`);
    }
    moved += Number(trace.kind(index) === "member");
  }
  assert.ok(moved > 10);
});

/** krl, and hok, among the same three nodes. */
const BOTH = header(3, { resources: [resource("krl", { start: [leads, idle, idle] }), resource("hok", { k: 2, start: [{ ...leads, permits: [0, 1] }, idle, idle] })] });

test("of several resources the one that is looked at has its own course, and the others' lines are passed over", () => {
  const token = { token: { height: [0, 0, 0], token: { free: [0, 1], fence: {} } } };
  const send = { send: { to: 1, message: token, shared: false } };
  const trace = readLines(BOTH, step(1, 1, waits([0])), { ...step(0, 2, { out: [send], status: { permits: [] } }), resource: 1 }, step(2, 3, waits([1])),
    { t: 4, link: [0, 1], up: false, incarnation: 0 }, { end: { steps: 3, t: 4, violation: "2 units are in use at once, but there are only 1", resource: 1 } });
  const look = (index: number) => {
    const { waiting, flightCount, nodes } = trace.stateAt(index);
    return { waiting, flightCount, tokens: nodes.map((node) => node.hasToken), units: nodes.map((node) => node.permits.length) };
  };
  assert.deepEqual(look(2), { waiting: 2, flightCount: 0, tokens: [false, false, false], units: [1, 0, 0] });
  assert.deepEqual([trace.stop(0, 1), trace.stop(2, -1), trace.isQuiet(1), trace.isQuiet(3), trace.isQuiet(4)], [2, 0, true, false, false]);
  sameBothWays(trace);
  trace.show(1);
  assert.deepEqual(look(0), { waiting: 0, flightCount: 0, tokens: [true, false, false], units: [2, 0, 0] });
  assert.deepEqual(look(2), { waiting: 0, flightCount: 1, tokens: [false, false, false], units: [0, 0, 0] });
  assert.equal(look(3).flightCount, 0, "a link that fails cuts off the messages of all");
  assert.deepEqual([trace.stop(-1, 1), trace.stop(1, 1)], [1, 3]);
  assert.deepEqual([trace.resource.algorithm, trace.end?.about], ["hok", 1]);
  sameBothWays(trace);
  trace.show(7);
  assert.equal(trace.shown, 1, "there is no such resource");
});

test("a resource that is looked at late has the same course as one that was looked at from the start", () => {
  const lines = Array.from({ length: 700 }, (_, at) => ({ ...step(at % 3, at, waits([], [at % 2])), resource: at % 2 }));
  const [late, early] = [readLines(BOTH, ...lines), readLines(BOTH, lines[0])];
  early.show(1);
  for (const line of lines.slice(1)) early.append({ bytes: new TextEncoder().encode(JSON.stringify(line)), tooLong: false });
  late.show(1);
  assert.deepEqual(sameBothWays(late), sameBothWays(early));
  assert.deepEqual([late.waiting.at(699), early.waiting.at(699)], [3, 3]);
});

test("what the header does not name is no resource and no neighbourhood", () => {
  assert.deepEqual(reasons(BOTH, { ...step(0, 1, {}), resource: 2 }), ["it is about resource 2, and the header names only 2, counted from 0"]);
  assert.deepEqual(reasons(BOTH, { ...step(0, 1, {}), resource: -1 }, { end: { steps: 0, resource: 9 } }), ["the resource is no sensible number", "it is about resource 9, and the header names only 2, counted from 0"]);
  assert.deepEqual(reasons(TWO, { t: 1, member: 4, presence: "inside", neighbourhood: 2 }), ["it is about neighbourhood 2, and the header names only 2, counted from 0"]);
  assert.throws(() => readLines(header(3, { resources: [] })), /does not say what is shared/);
});

test("a node that joins is shown by its id, from when it is there", () => {
  const up = (node: number, peer: number) => step(node, 2, { in: { below: { up: { peer, incarnation: 1 } } } });
  const asks = { request: { height: [0, 0, 70000] } };
  const trace = readLines(header(2, {}, "krl", { start: [leads, idle] }), { t: 1, join: 70000 }, up(70000, 0), up(0, 70000),
    step(70000, 3, { out: [{ send: { to: 0, message: asks } }], ...waits([0], [70000]) }), step(0, 4, { in: { message: { from: 70000, message: asks } }, status: { queue: [70000] } }));
  assert.deepEqual(trace.problems, []);
  assert.deepEqual([-1, 0].map((index) => trace.stateAt(index).nodes.length), [2, 3]);
  assert.deepEqual([0, 1, 2].map((index) => tell(trace, index).what), ["Node 70000 joins", "Node 70000 has a link to 0 now", "Node 0 has a link to 70000 now"]);
  const why = whyWaits(trace.stateAt(4), 2);
  assert.deepEqual([why.path, why.ending], [[2, 0], "served"]);
  assert.match(why.sentences.join(" "), /^Node 70000 has asked 0, where it is 1st of 1 in the queue\. Node 0 holds unit 0, not in use\. It serves 70000 next\.$/);
  assert.match(meaningOf("nodes [70000] wait and are not served", trace.stateAt(4)), /node 70000 waits, and will for ever\. .*Node 0 holds unit 0/);
  assert.deepEqual(parseNodes("1, 70000, 9", trace.roster), [1, 2]);
  sameBothWays(trace);
});

test("nobody joins twice, and nobody does anything before", () => {
  assert.deepEqual(reasons(header(2), { t: 1, join: 1 }, step(5, 2, {}), { t: 3, join: 5 }, { t: 4, join: 5 }, step(5, 5, {}), { t: 6, join: 2 ** 40 }), [
    "node 1 joins, but it is there already",
    "the node is node 5, and there are only 2 nodes by then, and none of that number",
    "node 5 joins, but it is there already",
    "the id is no sensible number",
  ]);
  const trace = readLines(header(0, { links: [] }), { t: 1, join: 9 }, { t: 1, join: 4 });
  assert.deepEqual([trace.problems.length, trace.roster.idsOf([0, 1])], [0, [9, 4]], "all of them may join");
});

test("whoever joins finds a place beside the others, and members have theirs in the area of their neighbourhood", () => {
  const places = [[500, 500], [520, 520]] as const;
  const [x, y] = placeBeside(places, 1);
  assert.ok(Math.hypot(x - 500, y - 500) > 400 && x > 0 && x < 1000 && y > 0 && y < 1000, `${x} ${y}`);
  for (const [count, nodes] of [[2, 5], [4, 80], [7, 500], [30, 30]]) {
    const areas = new Areas(count, nodes, 1.4);
    const seen = new Set<string>();
    for (let area = 0; area < count; area++) {
      const [[left, top], , [right, bottom]] = areas.corners[area];
      for (let seat = 0; seat < areas.seats * 3; seat++) {
        const [x, y] = areas.place(area, seat);
        assert.ok(x > left && x < right && y > top && y < bottom, `${count} ${seat}`);
        if (seat < areas.seats) seen.add(`${x.toFixed(3)} ${y.toFixed(3)}`);
      }
    }
    assert.equal(seen.size, count * areas.seats, "no two have the same place");
  }
});

test("a member is drawn in its area, and a node that was never in one at the edge", () => {
  const trace = readLines(TWO);
  const areas = new Areas(2, 5, 1);
  const [camera, x, y] = [new Camera(), new Float64Array(5), new Float64Array(5)];
  camera.resize(500, 500);
  camera.fit({ left: 0, top: 0, right: 1000, bottom: 1000 });
  project(trace, trace.stateAt(-1), 0, camera, { places: [], areas }, 1, x, y);
  const [[left, top], , [right, bottom]] = areas.corners[1];
  for (const node of [2, 3]) assert.ok(x[node] > camera.screenX(left) && x[node] < camera.screenX(right) && y[node] > camera.screenY(top) && y[node] < camera.screenY(bottom));
  assert.equal(x[4], camera.screenX(0));
});
