import assert from "node:assert/strict";
import { test } from "node:test";
import { Player } from "../src/view/player";
import { header, readLines, step } from "./reading";

/** A line of a stream, as the trace takes it. */
function raw(line: object): { bytes: Uint8Array; tooLong: boolean } {
  return { bytes: new TextEncoder().encode(JSON.stringify(line)), tooLong: false };
}

/** Lets frames go by until nothing moves any more. */
function settle(player: Player): void {
  while (player.pass(16));
}

test("what is done while the clock is held is followed", () => {
  const trace = readLines(header(2), step(0, 1e9, {}));
  trace.append(raw({ now: 2e9, checked: 1 }));
  const player = new Player();
  player.adopt(trace, true);
  settle(player);
  assert.deepEqual([player.now, player.index], [2e9, 0]);
  assert.equal(player.pass(16), false);
  trace.append(raw({ t: 2e9, fault: 0, is: { kind: "crash", node: 0 } }));
  trace.append(raw({ now: 2e9, checked: 2 }));
  assert.equal(player.pass(16), true);
  assert.deepEqual([player.now, player.index, player.following], [2e9, 1, true]);
  assert.equal(player.pass(16), false);
});

test("a run that ends at the instant that is shown is followed to its end", () => {
  const trace = readLines(header(2), step(0, 1e9, {}));
  const player = new Player();
  player.adopt(trace, true);
  settle(player);
  trace.append(raw({ end: { steps: 1, t: 1e9, violation: "x" } }));
  assert.equal(player.pass(16), true);
  assert.deepEqual([player.index, player.following], [trace.length - 1, false]);
});
