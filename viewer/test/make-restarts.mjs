// Writes a trace in which nodes are killed and applications outlive them: `node make-restarts.mjs driftlock > run.jsonl`. What
// happens is written here; what the nodes do about it is what `driftlock replay` says that they do.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program] = process.argv.slice(2);
const path = join(mkdtempSync(join(tmpdir(), "restarts-")), "run.jsonl");
const idle = (permits, height) => ({ section: "remainder", permits, queue: [], waits_on: null, height });
const links = [[0, 1], [1, 2]];
const start = [idle([0], [0, 0, 0]), idle([], [0, 1, 1]), idle([], [0, 1, 2])];
const manner = { tokens: "each", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["krl"] };
const lines = [{ format: "driftlock-trace", version: 4, driftlock: "0.1.0", nodes: 3, links, resources: [{ algorithm: "krl", k: 1, without: [], ...manner, start }], world: { soak: { seed: 1, crowded: false } } }];
let [t, steps] = [0, 0];
/** What is on its way, the oldest first. */
let flights = [];
const incarnations = new Map(links.map(([a, b], at) => [`${a} ${b}`, at]));
const between = (a, b) => `${Math.min(a, b)} ${Math.max(a, b)}`;

/** The step as the program takes it. */
function taken(step) {
  writeFileSync(path, [...lines, { ...step, out: ["?"] }, { end: { steps: steps + 1 } }].map((line) => JSON.stringify(line)).join("\n") + "\n");
  const { stdout, stderr } = spawnSync(program, ["replay", path], { encoding: "utf8" });
  const found = /^ *replayed: (.*)$/m.exec(stdout + stderr);
  if (!found) throw new Error(`${JSON.stringify(step)}: ${stdout}${stderr}`);
  return JSON.parse(found[1]);
}

function takes(node, input) {
  t += 1_000_000_000;
  const step = taken({ t, node, in: input });
  lines.push(step);
  steps++;
  for (const { send } of step.out) if (send) flights.push({ from: node, to: send.to, message: send.message });
  return step;
}

/** All that is on its way arrives, and what follows from that. */
function settle() {
  for (let flight; (flight = flights.shift()); ) {
    const { from, to, message } = flight;
    takes(to, { message: { from, incarnation: incarnations.get(between(from, to)), message } });
  }
}

/** None of its links is up in its next life, and what was on its way is lost: nothing of this carries a unit. */
function killed(node, peers) {
  for (const peer of peers) {
    lines.push({ t: t + 1_000_000_000, link: [Math.min(node, peer), Math.max(node, peer)], up: false, incarnation: incarnations.get(between(node, peer)) });
  }
  flights = flights.filter(({ from, to }) => from !== node && to !== node);
  takes(node, "restart");
}

const misses = (node, peer) => takes(node, { below: { down: { peer, incarnation: incarnations.get(between(node, peer)) } } });

let next = links.length;
function forms(a, b) {
  const incarnation = next++;
  incarnations.set(between(a, b), incarnation);
  lines.push({ t: t + 1_000_000_000, link: [a, b], up: true, incarnation });
  for (const [node, peer] of [[a, b], [b, a]]) takes(node, { below: { up: { peer, incarnation } } });
}

const asks = { request: { units: 1, priority: 0 } };
const { grant } = takes(0, asks).out.find((effect) => effect.grant);
takes(1, asks);
settle();
// Killed while it is inside, it is back with the unit, and asks for nothing on behalf of another application.
killed(0, [1]);
takes(0, asks);
takes(2, asks);
misses(1, 0);
takes(0, { resume: { grant: { ...grant, permits: [1] }, left: { secs: 0, nanos: 0 } } });
takes(0, { resume: { grant, left: { secs: 0, nanos: 0 } } });
forms(0, 1);
settle();
takes(0, "release");
settle();
// The next one is inside by now; the application that it let in is not there any more.
killed(1, [0, 2]);
misses(0, 1);
misses(2, 1);
takes(1, "gone");
takes(1, "gone");
forms(0, 1);
forms(1, 2);
settle();
takes(2, "release");
settle();
for (const line of [...lines, { end: { steps, t } }]) process.stdout.write(`${JSON.stringify(line)}\n`);
