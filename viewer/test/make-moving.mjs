// Writes a trace with places: `node make-moving.mjs NODES LINES > run.jsonl`. Nodes walk about a field, links form and fail with
// their distance, and a token goes round. It is no run of an algorithm, only as large and as lively as one.
const [nodes, lines] = process.argv.slice(2).map(Number);
const side = Math.sqrt(nodes) * 60;
const range = 130;
let seed = 1;
const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const at = Array.from({ length: nodes }, () => [random() * side, random() * side]);
const velocity = Array.from({ length: nodes }, () => [random() * 6 - 3, random() * 6 - 3]);
const near = (a, b) => Math.hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]) < range;
const pairs = [];
for (let a = 0; a < nodes; a++) for (let b = a + 1; b < nodes; b++) if (Math.hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]) < range * 1.5) pairs.push([a, b]);
const up = new Set();
const links = pairs.filter(([a, b]) => near(a, b));
for (const [a, b] of links) up.add(a * 32768 + b);
const sites = Array.from({ length: 9 }, (_, i) => [(side * ((i % 3) + 0.5)) / 3, (side * (Math.floor(i / 3) + 0.5)) / 3]);
const manner = { tokens: "each", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["krl"] };
say({ format: "driftlock-trace", version: 4, driftlock: "0.1.0", nodes, links, resources: [{ algorithm: "krl", k: 3, without: [], ...manner }], world: { soak: { seed: 1, crowded: false } }, field: { width: side, height: side, range, sites } });

const round = (v) => Math.round(v * 1000) / 1000;
let [t, written, incarnation] = [0, 0, links.length];
const put = (line) => (say(line), written++);
for (let id = 0; id < nodes; id++) put({ t: 0, move: id, at: at[id].map(round), velocity: velocity[id].map(round) });
const sections = Array(nodes).fill("remainder");
const flying = [];
for (let tick = 0; written < lines; tick++) {
  t += 50_000_000;
  if (tick % 10 === 0) {
    for (let id = 0; id < nodes; id++) {
      for (const axis of [0, 1]) {
        at[id][axis] += velocity[id][axis] * 0.5;
        if (at[id][axis] < 0 || at[id][axis] > side) velocity[id][axis] *= -1;
      }
      if (random() < 0.05) put({ t, move: id, at: at[id].map(round), velocity: velocity[id].map(round) });
    }
    for (const [a, b] of pairs) {
      if (near(a, b) === up.has(a * 32768 + b)) continue;
      const isUp = near(a, b);
      isUp ? up.add(a * 32768 + b) : up.delete(a * 32768 + b);
      put({ t, link: [a, b], up: isUp, incarnation });
      for (const [node, peer] of [[a, b], [b, a]]) put({ t, node, in: { below: { [isUp ? "up" : "down"]: { peer, incarnation } } }, out: [] });
      incarnation++;
    }
  }
  if (tick === 40) put({ t, fault: 1, is: { kind: "jam", disc: { centre: [side / 3, side / 2], radius: side / 8 } } });
  if (tick === 400) put({ t, fault: 1, is: null });
  for (let n = 0; n < Math.max(1, nodes / 20); n++) {
    const id = Math.floor(random() * nodes);
    const peer = pairs[Math.floor(random() * pairs.length)];
    const order = ["remainder", "waiting", "critical"];
    sections[id] = order[(order.indexOf(sections[id]) + 1) % 3];
    const out = sections[id] === "critical" ? [{ clause: "recv-token.9" }, { grant: { permits: [id % 3], fence: { generation: 0, counter: written } } }] : [{ clause: "request.1" }];
    if (peer) out.push({ send: { to: peer[0] === id ? peer[1] : peer[0], message: { token: { height: [0, 1, id], token: { permit: id % 3, fence: { generation: 0, counter: 1 } }, onward: null } }, shared: false } });
    if (peer) flying.push([id, peer[0] === id ? peer[1] : peer[0]]);
    put({ t, node: id, in: sections[id] === "remainder" ? "release" : { request: { units: 1, priority: 0 } }, out, status: { section: sections[id], permits: sections[id] === "critical" ? [id % 3] : [], height: [0, Math.floor(random() * 9), id] } });
  }
  while (flying.length > nodes / 5) {
    const [from, to] = flying.shift();
    put({ t, node: to, in: { message: { from, incarnation: 0, message: { token: { height: [0, 1, from], token: { permit: from % 3 } } } } }, out: [{ clause: "recv-token.1" }] });
  }
}
say({ end: { steps: written } });
