// The bytes of all lines. A chunk of the file is kept once; a line is three numbers that say where in it.
import { counts } from "./columns";

export class LineStore {
  readonly #chunks: ArrayBufferLike[] = [];
  readonly #chunk = counts();
  readonly #offset = counts();
  readonly #length = counts();

  push(bytes: Uint8Array): void {
    if (this.#chunks[this.#chunks.length - 1] !== bytes.buffer) this.#chunks.push(bytes.buffer);
    this.#chunk.push(this.#chunks.length - 1);
    this.#offset.push(bytes.byteOffset);
    this.#length.push(bytes.length);
  }

  at(index: number): Uint8Array {
    return new Uint8Array(this.#chunks[this.#chunk.at(index)], this.#offset.at(index), this.#length.at(index));
  }
}
