import assert from "node:assert/strict";
import { test } from "node:test";
import { tell } from "../src/model/words";
import { LINE_MAX, Splitter } from "../src/trace/split";
import { header, plain, readBytes, readLines, readTrace, sameBothWays, step } from "./reading";
import { readFileSync } from "node:fs";

const NAMES = ["krl", "krl-counterexample", "krl-deadlock", "hok-counterexample", "klme-ft-counterexample", "klme", "klme-neighbourhoods", "krl-restarts", "moving"];

for (const name of NAMES) {
  test(`${name}: every line is understood, and the end is there`, () => {
    const trace = readTrace(name);
    assert.deepEqual(trace.problems, []);
    assert.ok(trace.end);
  });

  test(`${name}: a state is the same whichever way one comes to it`, () => {
    const trace = readTrace(name);
    const forwards = sameBothWays(trace);
    const again = readTrace(name);
    for (let at = 0; at < 200; at++) {
      const index = (at * 7919) % again.length;
      assert.equal(JSON.stringify(plain(again.stateAt(index))), forwards[index], `line ${index}`);
    }
  });
}

test("it does not matter where the chunks of a file end", () => {
  const bytes = readFileSync("test/traces/krl.jsonl");
  const whole = readBytes(bytes);
  for (const chunk of [1, 7, 1000]) {
    const trace = readBytes(bytes, chunk);
    assert.equal(trace.length, whole.length);
    assert.deepEqual(plain(trace.stateAt(trace.length - 1)), plain(whole.stateAt(whole.length - 1)));
  }
});

test("units are never made or lost in a krl run, and at most k are in use", () => {
  const trace = readTrace("krl");
  for (let index = -1; index < trace.length; index++) {
    const state = trace.stateAt(index);
    const held = state.nodes.flatMap((node) => node.permits);
    const flying = [...state.flights.values(), ...state.cutOff.values()].flat().flatMap((flight) => flight.content.permits);
    assert.deepEqual([...held, ...flying].sort(), [0, 1, 2], `after line ${index}`);
    assert.ok(state.inUse <= 3);
  }
});

test("stepping passes over moves, and stops at both ends", () => {
  const trace = readTrace("moving");
  assert.equal(trace.kind(0), "move");
  const first = trace.stop(-1, 1);
  assert.notEqual(trace.kind(first), "move");
  assert.equal(trace.stop(first, -1), -1);
  assert.equal(trace.stop(trace.length - 1, 1), trace.length - 1);
});

test("a node is where its last move leads", () => {
  const trace = readTrace("moving");
  const state = trace.stateAt(11);
  const motion = state.motions[3]!;
  assert.deepEqual(state.placeOf(3, 2e9), [motion.at[0] + 2 * motion.velocity[0], motion.at[1] + 2 * motion.velocity[1]]);
});

test("a line over the limit is given up on, and the next one is read", () => {
  const splitter = new Splitter();
  const part = new Uint8Array(1024 * 1024).fill(120);
  for (let at = 0; at <= LINE_MAX / part.length; at++) assert.deepEqual([...splitter.push(part)], []);
  const lines = [...splitter.push(new TextEncoder().encode("x\nshort\n"))];
  assert.deepEqual(lines.map((line) => [line.tooLong, line.bytes.length]), [[true, 0], [false, 5]]);
});

test("the token of a neighbourhood goes with whoever makes it, and nobody takes it away", () => {
  const members = { k: 2, neighbourhoods: [{ members: [0] }], start: [{ section: "remainder", permits: [0, 1], queue: [], waits_on: null }] };
  const trace = readLines(header(2, { links: [] }, "klme", members),
    step(0, 1, { in: { below: "leaving" }, out: ["depart"], status: { permits: [] } }), { t: 1, member: 0, presence: "outside" },
    { t: 2, member: 1, presence: "inside" }, step(1, 2, { in: { below: { entered: { stay: 2, members: [] } } }, status: { permits: [0, 1] } }));
  assert.deepEqual([-1, 0, 1, 3].map((index) => trace.stateAt(index).nodes.map(({ hasToken }) => hasToken)), [[true, false], [true, false], [false, false], [false, true]]);
});

test("a token that outlives its link is the one that was sent, and what else was on the link is not taken for it", () => {
  const token = { token: { height: [0, 0, 0], token: { permit: 0, fence: {} } } };
  const send = (message: object) => ({ send: { to: 1, message, shared: false } });
  const trace = readLines(header(2), step(0, 1, { in: { timer: "pace" }, out: [send({ request: { height: [0, 0, 0] } }), send(token)] }),
    { t: 2, link: [0, 1], up: false, incarnation: 0 }, step(1, 3, { in: { message: { from: 0, incarnation: 0, message: token } } }));
  assert.deepEqual([...trace.stateAt(1).cutOff.values()].flat().map(({ content }) => content.kind), ["request", "token"]);
  assert.deepEqual([...trace.stateAt(2).cutOff.values()].flat().map(({ content }) => content.kind), ["request"]);
});

/** Node 0 says four things to node 1, of which two are called the same, and two are the same. */
const SAID = ["early", { claim: { round: 1, of: [2] } }, { claim: { round: 1, of: [3] } }, "early"];
const sends = step(0, 1, { out: SAID.map((message) => ({ send: { to: 1, message } })) });
const hears = (t: number, message: object | string) => step(1, t, { in: { message: { from: 0, incarnation: 0, message } } });

/** When and how each message of the first line ended. */
function fates(...lines: readonly object[]): (string | null)[] {
  const trace = readLines(header(2), sends, ...lines);
  assert.deepEqual(trace.problems, []);
  const flights = [...trace.stateAt(0).flights.values()].flat();
  assert.equal(flights.length, SAID.length);
  const ended = flights.map((flight) => trace.fateOf(flight));
  const state = trace.stateAt(trace.length - 1);
  assert.equal(state.flightCount, [...state.flights.values()].flat().length);
  return ended.map((fate) => fate && `${fate.fate} ${fate.t}`);
}

test("a message that overtakes others is known by what it says", () => {
  assert.deepEqual(fates(hears(2, SAID[2]), hears(3, SAID[1]), hears(4, "early")), ["arrived 4", "arrived 3", "arrived 2", null]);
  assert.deepEqual(fates(hears(2, SAID[2]), hears(3, "odd")), ["arrived 3", null, "arrived 2", null], "what nobody has said is taken for the oldest");
  assert.deepEqual(fates(hears(2, { claim: [1] }), hears(3, { claim: { round: 1 } })), ["arrived 2", "arrived 3", null, null]);
});

test("a message that is lost or returned is known by what it says", () => {
  assert.deepEqual(fates({ t: 2, lost: [0, 1], message: SAID[2] }), [null, null, "lost 2", null]);
  assert.deepEqual(fates({ t: 2, lost: [0, 1] }), ["lost 2", null, null, null], "older traces do not tell what it said");
  const fails = { t: 2, link: [0, 1], up: false, incarnation: 0 };
  const returned = step(0, 3, { in: { undelivered: { to: 1, message: SAID[1] } } });
  assert.deepEqual(fates(fails, returned), ["lost 2", "returned 3", "lost 2", "lost 2"]);
  const refused = { ...hears(3, SAID[2]), refused: "wrong_incarnation" };
  assert.deepEqual(fates(fails, refused), ["lost 2", "lost 2", "refused 3", "lost 2"]);
});

test("which message is lost is told", () => {
  const trace = readLines(header(2), { t: 2, lost: [0, 1], message: { link_info: {} } }, { t: 2, lost: [0, 1] });
  assert.deepEqual([0, 1].map((index) => tell(trace, index).what), ["Link info from 0 to 1 is lost", "A message from 0 to 1 is lost"]);
});
