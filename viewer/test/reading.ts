// Traces for tests, from files and from lines.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { State } from "../src/model/state";
import { Splitter } from "../src/trace/split";
import { Trace, headerOf } from "../src/trace/trace";

/** As a file of these bytes would be read. */
export function readBytes(bytes: Uint8Array, chunk = 65_536): Trace {
  const splitter = new Splitter();
  let trace: Trace | null = null;
  const take = (raw: { bytes: Uint8Array; tooLong: boolean }) => {
    if (trace) trace.append(raw);
    else trace = new Trace(headerOf(raw));
  };
  for (let at = 0; at < bytes.length; at += chunk) for (const raw of splitter.push(bytes.subarray(at, at + chunk))) take(raw);
  for (const raw of splitter.finish()) take(raw);
  if (!trace) throw new Error("no lines");
  return trace;
}

export function readTrace(name: string): Trace {
  return readBytes(readFileSync(`test/traces/${name}.jsonl`));
}

export function readLines(...lines: readonly (object | string)[]): Trace {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  return readBytes(new TextEncoder().encode(text));
}

/** What the header says of the algorithms that the tests speak of, and of one in which each node asks all others. */
const MANNERS: Readonly<Record<string, object>> = {
  krl: { tokens: "each", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["krl"] },
  hok: { tokens: "one", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["hok"] },
  klme: { tokens: "one", asks: ["req_cs"], brings: ["token", "per_grant"], hands_over: ["token"], pages: ["klme"] },
  "klme-ft": { tokens: "none", asks: ["claim"], brings: ["token", "grant"], hands_over: ["token"], pages: ["klme-ft", "klme"] },
  permission: { tokens: "none", asks: ["request"], brings: ["reply"], hands_over: [], pages: [] },
};

export function resource(algorithm: string, more: object = {}): object {
  return { algorithm, k: 1, without: [], ...MANNERS[algorithm], ...more };
}

/** The first line of a trace of one resource. */
export function header(nodes: number, more: object = {}, algorithm = "krl", of: object = {}): object {
  const links = nodes > 1 ? [[0, 1]] : [];
  return { format: "driftlock-trace", version: 4, driftlock: "0.1.0", nodes, links, resources: [resource(algorithm, of)], world: {}, ...more };
}

export function step(node: number, t: number, more: object): object {
  return { t, node, in: "release", out: [], ...more };
}

export function plain({ roster, resource, ...state }: State): object {
  return { ...state, flights: [...state.flights], cutOff: [...state.cutOff], faults: [...state.faults], doubts: [...state.doubts] };
}

/** That each state is the same forwards and backwards; those states, as text. */
export function sameBothWays(trace: Trace): readonly string[] {
  const forwards = Array.from({ length: trace.length }, (_, index) => JSON.stringify(plain(trace.stateAt(index))));
  for (let index = trace.length - 1; index >= 0; index--) {
    assert.equal(JSON.stringify(plain(trace.stateAt(index))), forwards[index], `line ${index}`);
  }
  return forwards;
}
