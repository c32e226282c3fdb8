// Where the lines come from: the server that sent the page, or a file that somebody chose.
import { Splitter } from "./trace/split";
import { type Fields, Unreadable, clipped, isFields, parseJson } from "./trace/record";
import { type Progress, loadTrace } from "./trace/load";
import { Trace, headerOf } from "./trace/trace";

export interface FeedEvents {
  /** Another run from now on. */
  trace(trace: Trace, live: boolean): void;
  /** The run has more lines. */
  grown(): void;
  progress(name: string, progress: Progress): void;
  /** All of the file has been read. */
  loaded(trace: Trace): void;
  /** Nothing can be shown: why. */
  failed(title: string, reason: string): void;
  /** There is no run yet. */
  nothing(): void;
  connection(state: "open" | "lost" | "retrying"): void;
  demo(settings: Fields): void;
  refused(reason: string): void;
  /** Something that whoever watches should know. */
  told(words: string): void;
}

/** Milliseconds between attempts to connect again. */
const RETRY = 2000;

export class Feed {
  readonly #events: FeedEvents;
  #generation = 0;
  #socket: WebSocket | null = null;
  #live: Trace | null = null;

  constructor(events: FeedEvents) {
    this.#events = events;
  }

  /** Asks the server what there is. */
  async start(): Promise<void> {
    const offer = await offered();
    if (!offer) return this.#events.nothing();
    if (offer.source === "stream") return this.connect();
    const mine = ++this.#generation;
    try {
      const response = await fetch("trace");
      if (!response.ok || !response.body) throw new Unreadable(`the server answers ${response.status}`);
      const length = Number(response.headers.get("content-length"));
      await this.#read(offer.name, response.body, length > 0 ? length : null, mine);
    } catch (error) {
      this.#fail(offer.name, error, mine);
    }
  }

  async open(file: File): Promise<void> {
    const mine = ++this.#generation;
    this.#socket?.close();
    this.#socket = null;
    const name = clipped(file.name, 80);
    if (name.endsWith(".zst")) {
      return this.#events.failed("This trace is compressed", `The page does not unpack ${name}; “driftlock view ${name}” does.`);
    }
    try {
      await this.#read(name, file.stream(), file.size, mine);
    } catch (error) {
      this.#fail(name, error, mine);
    }
  }

  async #read(name: string, stream: ReadableStream<Uint8Array>, total: number | null, mine: number): Promise<void> {
    const stopped = () => mine !== this.#generation;
    this.#events.progress(name, { bytes: 0, total, lines: 0 });
    const trace = await loadTrace(stream, total, {
      begun: (trace) => stopped() || this.#events.trace(trace, false),
      progress: (progress) => stopped() || this.#events.progress(name, progress),
      stopped,
    });
    if (!stopped()) this.#events.loaded(trace);
  }

  #fail(name: string, error: unknown, mine: number): void {
    if (mine !== this.#generation) return;
    const reason = error instanceof Unreadable ? error.message : "it could not be read to the end";
    this.#events.failed(`${name} cannot be shown`, `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`);
  }

  connect(): void {
    const mine = ++this.#generation;
    this.#events.connection("retrying");
    const socket = new WebSocket(new URL("stream", document.baseURI.replace(/^http/, "ws")));
    this.#socket = socket;
    socket.addEventListener("open", () => mine === this.#generation && this.#events.connection("open"));
    socket.addEventListener("message", (event) => {
      if (mine === this.#generation && typeof event.data === "string") this.#hear(event.data);
    });
    socket.addEventListener("close", () => {
      if (mine !== this.#generation) return;
      this.#events.connection("lost");
      setTimeout(() => mine === this.#generation && this.connect(), RETRY);
    });
  }

  /** A frame is one or more whole lines. */
  #hear(frame: string): void {
    const splitter = new Splitter();
    const bytes = new TextEncoder().encode(frame);
    for (const raw of [...splitter.push(bytes), ...splitter.finish()]) {
      try {
        if (raw.tooLong || !this.#control(raw.bytes)) this.#live?.append(raw);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        this.#events.failed("The stream cannot be shown", error.message);
      }
    }
    if (this.#live) this.#events.grown();
  }

  /**
   * Lines that are not part of a run; whether this was one. Their first key says so, and spares parsing the others
   * twice.
   */
  #control(bytes: Uint8Array): boolean {
    const start = new TextDecoder().decode(bytes.subarray(0, 16));
    if (start.startsWith('{"format"')) {
      this.#live = new Trace(headerOf({ bytes, tooLong: false }));
      this.#events.trace(this.#live, true);
      return true;
    }
    if (!/^\{"(?:demo|refused|told)"/.test(start)) return false;
    const fields = parseJson(new TextDecoder().decode(bytes));
    if (isFields(fields.demo)) this.#events.demo(fields.demo);
    if (typeof fields.refused === "string") this.#events.refused(clipped(fields.refused));
    if (typeof fields.told === "string") this.#events.told(clipped(fields.told));
    return true;
  }

  command(command: Fields): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }
}

async function offered(): Promise<{ readonly source: string; readonly name: string } | null> {
  try {
    const response = await fetch("feed.json");
    if (!response.ok) return null;
    const offer = (await response.json()) as unknown as Fields;
    if (!isFields(offer) || (offer.source !== "file" && offer.source !== "stream")) return null;
    return { source: offer.source, name: typeof offer.name === "string" ? clipped(offer.name, 80) : "trace" };
  } catch {
    return null;
  }
}
