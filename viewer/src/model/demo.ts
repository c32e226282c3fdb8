// What a demo says can be controlled, and how it is set.
import { type Fields, type Json, clipped, isFields } from "../trace/record";

export interface Repair {
  readonly name: string;
  readonly what: string;
}

export interface Algorithm {
  readonly tag: string;
  readonly title: string;
  /** How docks are shared, in a sentence. */
  readonly how: string;
  readonly repairs: readonly Repair[];
}

export interface Demo {
  readonly algorithms: readonly Algorithm[];
  readonly algorithm: string;
  readonly without: readonly string[];
  readonly nodes: number;
  readonly k: number;
  readonly speed: number;
  readonly isHeld: boolean;
  /** Whether more than the clock can be controlled. */
  readonly canAct: boolean;
}

/** Entries of a list; a demo has a dozen. */
const ENTRIES_MAX = 64;

export function parseDemo(fields: Fields): Demo {
  return {
    algorithms: list(fields.algorithms).filter(isFields).map((algorithm) => ({
      tag: text(algorithm.tag),
      title: text(algorithm.title),
      how: text(algorithm.how),
      repairs: list(algorithm.repairs).filter(isFields).map((repair) => ({ name: text(repair.name), what: text(repair.what) })),
    })),
    algorithm: text(fields.algorithm),
    without: list(fields.without).map(text),
    nodes: count(fields.nodes),
    k: count(fields.k),
    speed: typeof fields.speed === "number" && fields.speed > 0 && fields.speed < 1e6 ? fields.speed : 1,
    isHeld: fields.paused === true,
    canAct: fields.canAct === true,
  };
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value.slice(0, ENTRIES_MAX) : [];
}

function count(value: Json | undefined): number {
  return typeof value === "number" && value >= 0 && value < 1e6 ? Math.floor(value) : 0;
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? clipped(value) : "";
}
