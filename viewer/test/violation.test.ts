import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { meaningOf } from "../src/model/violation";
import { header, readLines, readTrace, step } from "./reading";

const OTHERWISE = "The algorithm is right only as long as this never happens.";

/** What the nodes do does not matter to most. */
const idle = readLines(header(4)).stateAt(-1);

test("a unit that is nowhere is said to be lost", () => {
  assert.equal(meaningOf("the permits held and in flight are {0, 2}, but should be {0, 1, 2}", idle), "Unit 1 is lost: nobody has it, and no message brings it. Nobody can use it any more.");
  assert.match(meaningOf("the permits held and in flight are {}, but should be {0, 1}", idle), /^Units 0 and 1 are lost: nobody has them/);
});

test("who uses too much is named", () => {
  const grant = (node: number, permit: number) => step(node, 1, { out: [{ grant: { permits: [permit] } }], status: { section: "critical" } });
  const state = readLines(header(3), grant(0, 0), grant(2, 0)).stateAt(1);
  assert.match(meaningOf("2 units are in use at once, but there are only 1 (the last was granted to node 2)", state), /^Nodes 0 and 2 are in their critical sections at the same time/);
});

test("of who is never served it is said how far its request has got", () => {
  const trace = readTrace("krl-deadlock");
  const words = meaningOf(trace.end!.violation!, trace.stateAt(trace.length - 1));
  assert.match(words, /^Every message has arrived and nothing is left to happen, and yet node 2 waits, and will for ever\. Node /);
});

test("every violation of the errata has a meaning of its own", () => {
  const oracle = readFileSync("../crates/spec/src/oracle.rs", "utf8");
  assert.ok(oracle.includes("the permits held and in flight are {found:?}, but should be {expected:?}"), "the words of the oracle have changed");
  const page = readFileSync("../docs/errata.md", "utf8");
  const transcripts = [...page.matchAll(/\(errata\/([a-z-]+\.txt)\)/g)].map((match) => readFileSync(`../docs/errata/${match[1]}`, "utf8"));
  const violations = new Set(transcripts.flatMap((text) => [...text.matchAll(/^ +VIOLATED \([a-z]+\) after \d+ steps?: (.*)$/gm)].map((match) => match[1])));
  assert.ok(violations.size > 10, `${violations.size}`);
  assert.deepEqual([...violations].filter((violation) => meaningOf(violation, idle) === OTHERWISE), []);
});

test("anything else is not taken for something that it is not", () => {
  assert.equal(meaningOf("<b>nodes</b>", idle), OTHERWISE);
  assert.match(meaningOf("nodes [99999] wait and are not served although nothing changes any more", idle), /node 99999 waits/);
});
