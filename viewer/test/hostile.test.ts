import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { Unreadable, VERSION } from "../src/trace/record";
import { tell } from "../src/model/words";
import { layOut } from "../src/model/layout";
import { header, readLines, step } from "./reading";

const reasons = (...lines: (object | string)[]) => readLines(header(3), ...lines).problems.map(({ line, reason }) => `${line}: ${reason}`);

test("a billion nodes are refused in words", () => {
  assert.throws(() => readLines(header(1_000_000_000)), (error) => error instanceof Unreadable && /1,000,000,000 nodes; this page shows 20,000/.test(error.message));
});

/** What is said of a trace of another version. */
function refusal(version: number, driftlock?: string): string {
  const lines = [{ ...header(3), version, driftlock }];
  try {
    readLines(...lines);
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
  return assert.fail("it was read");
}

test("any other version is refused with who wrote it, in the words of the program", () => {
  const read = readFileSync("../crates/trace/src/read.rs", "utf8").replace(/\\\n\s*/g, "");
  const words = /"(the trace has version \{version\} of the format[^"]*)"/.exec(read)![1].replace("{VERSION}", String(VERSION));
  const known = [...read.matchAll(/\((\d+), "(driftlock [^"]*)"\)/g)].map(([, version, wrote]) => [Number(version), wrote] as const);
  assert.deepEqual(known.map(([version]) => version), Array.from({ length: VERSION - 1 }, (_, at) => at + 1));
  for (const [version, wrote] of [...known, [999_999, "a driftlock unknown to this one"] as const]) {
    assert.equal(refusal(version), words.replace("{version}", String(version)).replace("{wrote}", wrote));
  }
  assert.equal(refusal(5, "7.1"), words.replace("{version}", "5").replace("{wrote}", "driftlock 7.1"));
  assert.throws(() => readLines({ ...header(3), version: "3" }), /the version is no sensible number/);
  assert.ok(readFileSync("../crates/trace/src/record.rs", "utf8").includes(`pub const VERSION: u32 = ${VERSION};`));
});

test("what is no trace is said to be none", () => {
  assert.throws(() => readLines("hello"), /not JSON/);
  assert.throws(() => readLines("[1]"), /not a JSON object/);
  assert.throws(() => readLines({ format: "other" }), /not the header/);
  assert.throws(() => readLines(header(-1)), /how many nodes/);
});

test("lines that are no records are noted with their number, and the rest is read", () => {
  const trace = readLines(header(3), "{", step(1, 5, {}), "NaN", '{"t":NaN}', { t: 6, what: 1 }, step(2, 7, {}));
  assert.deepEqual(trace.problems.map(({ line }) => line), [2, 4, 5, 6]);
  assert.equal(trace.length, 2);
});

test("numbers that mean nothing are turned away", () => {
  assert.deepEqual(reasons(step(99, 1, {})), ["2: the node is node 99, and there are only 3 nodes by then, and none of that number"]);
  assert.deepEqual(reasons(step(1.5, 1, {})), ["2: the node is not the number of a node"]);
  assert.deepEqual(reasons('{"t":1e999,"node":0,"in":"release","out":[]}'), ["2: its time is no time"]);
  assert.deepEqual(reasons({ t: -1, node: 0, in: "release", out: [] }), ["2: its time is no time"]);
  assert.deepEqual(reasons('{"t":1,"move":0,"at":[1e400,0],"velocity":[0,0]}'), ["2: the place is no place"]);
  assert.deepEqual(reasons({ t: 1, link: [0], up: true }), ["2: the link has not two ends"]);
  assert.deepEqual(reasons(step(0, 1, { status: { queue: [77] } })), ["2: the queue is node 77, and there are only 3 nodes by then, and none of that number"]);
});

test("messages to nobody and values of the wrong kind do no harm", () => {
  const out = [null, 7, "?", [], {}, { send: null }, { send: { to: 99, message: null } }, { send: { to: 1, message: { a: 1, b: 2 } } }, { grant: 3 }, { clause: { x: 1 } }];
  const trace = readLines(header(3), step(0, 1, { in: { message: { from: "x" } }, out, status: { section: 4, permits: "all", height: {} } }), step(1, 2, { in: null }));
  assert.deepEqual(trace.problems, []);
  assert.equal(trace.stateAt(0).flightCount, 1);
  for (let index = 0; index < trace.length; index++) assert.ok(tell(trace, index).what.length > 0);
});

test("names with markup stay text, and long ones are cut", () => {
  const trace = readLines(header(1, {}, "<img src=x onerror=alert(1)>"), step(0, 1, { out: [{ clause: "<script>".repeat(100) }] }));
  assert.equal(trace.resource.algorithm, "<img src=x onerror=alert(1)>");
  const [deed] = tell(trace, 0).deeds;
  assert.ok("clause" in deed && deed.clause.length < 60);
});

test("time that runs backwards stands still", () => {
  const trace = readLines(header(2), step(0, 10, {}), step(1, 5, {}), step(0, 12, {}));
  assert.deepEqual([0, 1, 2].map((index) => trace.t.at(index)), [10, 10, 12]);
  assert.equal(trace.problemCount, 1);
});

test("that a node has turned may be told late, and it is where it should be", () => {
  const trace = readLines(header(2), step(0, 2e9, {}), { t: 1e9, move: 1, at: [0, 0], velocity: [3, 0] });
  assert.equal(trace.problemCount, 0);
  assert.deepEqual(trace.stateAt(1).placeOf(1, 2e9), [3, 0]);
});

test("keys of the language's own objects are only names", () => {
  const trace = readLines(header(2), '{"t":1,"node":0,"in":{"__proto__":{"x":1}},"out":[{"constructor":1}],"status":{"__proto__":{"section":"critical"}}}');
  assert.equal(trace.stateAt(0).nodes[0].section, "remainder");
});

test("a flood of broadcasts ends at a limit, which is said", () => {
  const members = Array.from({ length: 5000 }, (_, id) => id);
  const head = header(5000, { links: [] }, "klme", { neighbourhoods: [{ members }] });
  const flood = Array.from({ length: 300 }, (_, at) => step(at, at, { out: [{ broadcast: { message: "x" } }] }));
  const trace = readLines(head, ...flood);
  assert.ok(trace.stateAt(299).flightCount <= 200_000);
});

test("places are found for any number of nodes", () => {
  for (const nodes of [0, 1, 2, 500, 20_000]) {
    const trace = readLines(header(nodes, { links: nodes > 1 ? [[0, nodes - 1]] : [] }));
    const places = layOut(trace.header, 1);
    assert.equal(places.length, nodes);
    assert.ok(places.every(([x, y]) => x >= 0 && x <= 1000 && y >= 0 && y <= 1000));
  }
});

test("messages that are nested deeper than a stack are compared all the same", () => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const sent = `{"t":1,"node":0,"in":"release","out":[{"send":{"to":1,"message":${deep}}}]}`;
  const trace = readLines(header(3), sent, `{"t":2,"node":1,"in":{"message":{"from":0,"message":${deep}}},"out":[]}`);
  assert.deepEqual(trace.problems, []);
  assert.equal(trace.stateAt(1).flightCount, 0);
});
