// Curves over the whole run, thinned to what a screen can show. A bucket shows its largest value: a peak is never lost.
import type { Column } from "../trace/columns";
import type { Trace } from "../trace/trace";

const BUCKETS = 1600;

export interface Series {
  /** In seconds. */
  readonly t: number[];
  readonly waiting: number[];
  readonly inUse: number[];
  readonly inFlight: number[];
}

export function seriesOf(trace: Trace): Series {
  const series: Series = { t: [0], waiting: [0], inUse: [0], inFlight: [0] };
  const { length } = trace;
  const push = (seconds: number, from: number, to: number) => {
    series.t.push(seconds);
    series.waiting.push(largest(trace.waiting, from, to));
    series.inUse.push(largest(trace.inUse, from, to));
    series.inFlight.push(largest(trace.inFlight, from, to));
  };
  const last = trace.last;
  if (length <= BUCKETS) {
    for (let at = 0; at < length; at++) push(trace.t.at(at) / 1e9, at, at + 1);
  } else {
    let from = 0;
    for (let bucket = 1; bucket <= BUCKETS && from < length; bucket++) {
      const to = Math.max(from, trace.t.countUpTo((last * bucket) / BUCKETS));
      if (to === from) continue;
      push(trace.t.at(from) / 1e9, from, to);
      from = to;
    }
  }
  if (length > 0) push(last / 1e9, length - 1, length);
  return series;
}

function largest(column: Column<Int32Array>, from: number, to: number): number {
  let most = 0;
  for (let at = from; at < to; at++) most = Math.max(most, column.at(at));
  return most;
}
