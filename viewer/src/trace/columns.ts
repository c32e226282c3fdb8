// Numbers in columns that grow: a million lines cost a few bytes each, and are searched fast.

export class Column<A extends Float64Array | Int32Array | Uint8Array> {
  length = 0;
  #values: A;
  readonly #make: (size: number) => A;

  constructor(make: (size: number) => A) {
    this.#make = make;
    this.#values = make(1024);
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = this.#make(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  at(index: number): number {
    return this.#values[index];
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  /** How many entries are not above the value, in a column that never falls. */
  countUpTo(value: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#values[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export const times = (): Column<Float64Array> => new Column((size) => new Float64Array(size));
export const counts = (): Column<Int32Array> => new Column((size) => new Int32Array(size));
export const kinds = (): Column<Uint8Array> => new Column((size) => new Uint8Array(size));
