// What is to be said besides the run: how far reading is, what is wrong with a file, that a connection was lost.
import type { Progress } from "../trace/load";
import type { Trace } from "../trace/trace";
import { button, el, say } from "./dom";

export class Notices {
  /** In place of the map while there is nothing to draw. */
  readonly stage = el("div", { class: "stage" });
  /** A line under the head of the page. */
  readonly bar = el("div", { class: "notices", attrs: { "aria-live": "polite" } });
  readonly #progress = el("div", { class: "notice progress" });
  readonly #meter = el("progress", { label: "Read so far" });
  readonly #read = el("span");
  readonly #problems = el("details", { class: "notice problems" });
  readonly #connection = el("div", { class: "notice lost" });
  readonly #brief = el("div", { class: "notice brief" });
  readonly #news = el("div", { class: "notice news" });
  readonly #newsWords = el("span");
  #timer = 0;
  /** Problems of a stream that have been told already. */
  #told = 0;

  constructor(choose: () => void, retry: () => void) {
    this.#progress.append(this.#read, this.#meter);
    this.#connection.append(el("span", { text: "The connection is lost. What has come so far stays; trying again every two seconds." }), button("Try now", { onclick: retry }));
    this.#news.append(this.#newsWords, button("Close", { label: "Close this notice", onclick: () => (this.#news.hidden = true) }));
    this.bar.append(this.#progress, this.#connection, this.#problems, this.#news, this.#brief);
    for (const notice of [this.#progress, this.#connection, this.#problems, this.#news, this.#brief]) notice.hidden = true;
    this.#choose = choose;
  }

  readonly #choose: () => void;

  progress(name: string, { bytes, total, lines }: Progress): void {
    this.#progress.hidden = false;
    const size = total === null ? megabytes(bytes) : `${megabytes(bytes)} of ${megabytes(total)}`;
    say(this.#read, `Reading ${name}: ${size}, ${lines.toLocaleString("en-GB")} lines`);
    if (total === null) this.#meter.removeAttribute("value");
    else this.#meter.value = bytes / Math.max(total, 1);
  }

  /** What a file that has been read to its end, or a stream so far, leaves to say. */
  loaded(trace: Trace, live: boolean): void {
    this.#progress.hidden = true;
    if (live && trace.problemCount === this.#told) return;
    this.#told = trace.problemCount;
    const words: string[] = [];
    if (!live && !trace.end) words.push(`The file ends at line ${trace.lineCount.toLocaleString("en-GB")} without an end: shown as far as it goes.`);
    const lines = trace.problemCount;
    if (lines > 0) words.push(`${lines.toLocaleString("en-GB")} ${lines === 1 ? "line is not as it" : "lines are not as they"} should be.`);
    this.#problems.hidden = words.length === 0;
    const items = trace.problems.map(({ line, reason }) => el("li", { text: `Line ${line.toLocaleString("en-GB")}: ${reason}.` }));
    if (lines > items.length) items.push(el("li", { text: `and ${(lines - items.length).toLocaleString("en-GB")} more.` }));
    this.#problems.classList.toggle("bare", items.length === 0);
    // A few are said at once; of many, how many there are.
    this.#problems.open = items.length <= 2;
    this.#problems.replaceChildren(el("summary", { text: words.join(" ") }), el("ul", {}, ...items));
  }

  connection(isOpen: boolean): void {
    this.#connection.hidden = isOpen;
  }

  /** Words that stay until somebody has read them. */
  tell(words: string): void {
    say(this.#newsWords, words);
    this.#news.hidden = false;
  }

  /** Words that go away by themselves. */
  brief(words: string): void {
    say(this.#brief, words);
    this.#brief.hidden = false;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => (this.#brief.hidden = true), 6000);
  }

  clear(): void {
    this.#told = 0;
    for (const notice of [this.#progress, this.#problems, this.#news, this.#brief]) notice.hidden = true;
    this.stage.hidden = true;
  }

  empty(): void {
    this.#show("No trace yet", [
      el("p", { text: "Drop a trace here, or choose a file. A trace is what “--trace run.jsonl” writes:" }),
      el("pre", { text: "driftlock sim --algorithm krl --nodes 12 --trace run.jsonl\ndriftlock check krl --as-published --trace c.jsonl" }),
    ]);
  }

  waiting(): void {
    this.#show("Connecting…", [el("p", { text: "Waiting for the first line of the run." })]);
  }

  failed(title: string, reason: string): void {
    this.#progress.hidden = true;
    this.#show(title, [el("p", { text: reason })]);
  }

  #show(title: string, body: readonly HTMLElement[]): void {
    this.stage.hidden = false;
    this.stage.replaceChildren(el("div", { class: "card" }, el("h1", { text: title }), ...body, button("Choose a file…", { class: "primary", onclick: this.#choose })));
  }
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
