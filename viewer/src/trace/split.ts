// Bytes in, lines out. The bytes are kept as they came and a line is made a string only when it is needed: a long trace
// fits into memory once, not twice.

/** A longer line is given up on. */
export const LINE_MAX = 16 * 1024 * 1024;

/** A line's bytes, or a line that was too long. */
export type RawLine = { readonly bytes: Uint8Array; readonly tooLong: boolean };

const EMPTY = new Uint8Array(0);

export class Splitter {
  #rest: Uint8Array[] = [];
  #restLength = 0;
  #skipping = false;

  /** The lines that these bytes complete. */
  *push(chunk: Uint8Array): Generator<RawLine> {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      if (end < 0) break;
      const line = this.#complete(chunk.subarray(from, end));
      if (line) yield line;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** The last line, if it had no line feed. */
  *finish(): Generator<RawLine> {
    const line = this.#complete(EMPTY);
    if (line) yield line;
  }

  #complete(tail: Uint8Array): RawLine | null {
    const tooLong = this.#skipping || this.#restLength + tail.length > LINE_MAX;
    const bytes = tooLong ? EMPTY : this.#joined(tail);
    this.#rest = [];
    this.#restLength = 0;
    this.#skipping = false;
    const blank = bytes.length === 0 || (bytes.length === 1 && bytes[0] === 13);
    return blank && !tooLong ? null : { bytes, tooLong };
  }

  #joined(tail: Uint8Array): Uint8Array {
    if (this.#rest.length === 0) return tail;
    const whole = new Uint8Array(this.#restLength + tail.length);
    let at = 0;
    for (const part of [...this.#rest, tail]) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0 || this.#skipping) return;
    this.#rest.push(part);
    this.#restLength += part.length;
    if (this.#restLength > LINE_MAX) {
      this.#rest = [];
      this.#restLength = 0;
      this.#skipping = true;
    }
  }
}
