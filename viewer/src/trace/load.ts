// From bytes to a trace, a slice at a time: the page stays alive whatever the file is.
import { Unreadable } from "./record";
import { type RawLine, Splitter } from "./split";
import { Trace, headerOf } from "./trace";

/** Milliseconds of work before the page gets its turn. */
const SLICE = 30;

export interface Progress {
  readonly bytes: number;
  /** Null if nobody knows. */
  readonly total: number | null;
  readonly lines: number;
}

export interface LoadEvents {
  /** The header is there. */
  begun(trace: Trace): void;
  progress(progress: Progress): void;
  /** Whether nobody wants it any more. */
  stopped(): boolean;
}

/** Lets the page draw and listen. A timer would wait for some milliseconds more, every time. */
function turnOver(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Reads a whole file. Throws [`Unreadable`] if it is no trace at all. */
export async function loadTrace(stream: ReadableStream<Uint8Array>, total: number | null, events: LoadEvents): Promise<Trace> {
  const reader = stream.getReader();
  const splitter = new Splitter();
  let [trace, bytes, turn] = [null as Trace | null, 0, performance.now()];
  const take = async (lines: Iterable<RawLine>) => {
    for (const raw of lines) {
      if (trace) trace.append(raw);
      else events.begun((trace = new Trace(headerOf(raw))));
      if (performance.now() - turn < SLICE) continue;
      events.progress({ bytes, total, lines: trace.lineCount });
      await turnOver();
      turn = performance.now();
      if (events.stopped()) return;
    }
  };
  while (!events.stopped()) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    await take(splitter.push(value));
    if (!trace) events.progress({ bytes, total, lines: 0 });
  }
  if (events.stopped()) {
    await reader.cancel();
  } else {
    await take(splitter.finish());
  }
  if (!trace) throw new Unreadable(bytes === 0 ? "the file is empty" : "the file has no first line");
  return trace;
}
