// Where in the run one is: a line and an instant. Several lines happen at the same instant, so neither is enough.
import type { Trace } from "../trace/trace";

export const SPEEDS: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100];

export class Player {
  index = -1;
  now = 0;
  playing = false;
  speed = 1;
  /** At the end of a stream, and going with it. */
  following = false;
  #trace: Trace | null = null;

  adopt(trace: Trace, follow: boolean): void {
    this.#trace = trace;
    this.index = -1;
    this.now = 0;
    this.playing = false;
    this.following = follow;
  }

  /** To an instant. */
  seek(now: number): void {
    if (!this.#trace) return;
    this.following = false;
    this.now = Math.max(0, Math.min(now, this.#trace.last));
    this.index = this.#trace.indexAt(this.now);
  }

  /** To a line. */
  goTo(index: number): void {
    if (!this.#trace) return;
    this.following = false;
    this.index = Math.max(-1, Math.min(index, this.#trace.length - 1));
    this.now = this.index < 0 ? 0 : this.#trace.t.at(this.index);
  }

  step(direction: 1 | -1): void {
    if (!this.#trace) return;
    this.playing = false;
    this.goTo(this.#trace.stop(this.index, direction));
  }

  /** To the end, and on with it if the run goes on. */
  toEnd(live: boolean): void {
    if (!this.#trace) return;
    this.goTo(this.#trace.length - 1);
    this.now = this.#trace.last;
    this.following = live;
    if (live) this.playing = false;
  }

  /** Plays or pauses. Whoever goes with a live run stands still first; at the end of one it is followed again. */
  toggle(live: boolean): void {
    const trace = this.#trace;
    if (!trace) return;
    if (this.following) {
      this.following = false;
      return;
    }
    if (!this.playing && this.now >= trace.last) {
      if (live) return this.toEnd(true);
      this.goTo(-1);
    }
    this.playing = !this.playing;
  }

  /** Lets so many milliseconds pass; whether anything moved. */
  pass(milliseconds: number): boolean {
    const trace = this.#trace;
    if (!trace) return false;
    if (this.following) return this.#follow(trace, milliseconds);
    if (!this.playing) return false;
    this.now = Math.min(trace.last, this.now + milliseconds * 1e6 * this.speed);
    this.index = Math.max(this.index, trace.indexAt(this.now));
    if (this.now >= trace.last) this.playing = false;
    return true;
  }

  /** The stream says ten times a second how late it is; in between the clock goes on as it has gone. */
  #follow(trace: Trace, milliseconds: number): boolean {
    const [behind, before] = [trace.last - this.now, this.index];
    if (behind > 2e9 * this.speed) this.now = trace.last;
    else if (behind > 0) this.now += Math.min(behind, Math.max(milliseconds * 1e6 * this.speed, behind * 0.15));
    // There is nothing to follow any more.
    else if (trace.end) this.following = false;
    // While the clock is held, what is done happens at the instant that is shown already.
    this.index = trace.indexAt(this.now);
    return behind > 0 || this.index !== before || !this.following;
  }
}
