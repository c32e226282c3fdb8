// Neighbourhoods without places: boxes side by side, in which each member has a seat.
import type { Point } from "../trace/record";

/** So few seats are best seen on a ring. */
const RING_MAX = 40;
/** The next seat is always where the largest gap is, about. */
const GOLDEN_TURN = Math.PI * (3 - Math.sqrt(5));

export class Areas {
  /** The corners of each, on a rectangle that is 1000 high. */
  readonly corners: readonly (readonly Point[])[];
  /** Seats that each has room for. */
  readonly seats: number;
  readonly #columns: number;
  readonly #width: number;
  readonly #height: number;

  constructor(count: number, nodes: number, aspect: number) {
    const rows = rowsOf(count, aspect);
    this.#columns = Math.ceil(count / rows);
    [this.#width, this.#height] = [(1000 * aspect) / this.#columns, 1000 / rows];
    // Twice as many as there would be if nobody preferred one to another: some are crowded at times.
    this.seats = Math.max(4, Math.min(nodes, Math.ceil((2 * nodes) / count)));
    this.corners = Array.from({ length: count }, (_, area) => this.#box(area));
  }

  #box(area: number): readonly Point[] {
    const [left, top] = [(area % this.#columns) * this.#width, Math.floor(area / this.#columns) * this.#height];
    const [right, bottom] = [left + this.#width, top + this.#height];
    return [[left, top], [right, top], [right, bottom], [left, bottom]];
  }

  /** Where the member on a seat is drawn. Whoever finds no seat is on the edge of a seat that is taken. */
  place(area: number, seat: number): Point {
    const [[left, top]] = this.corners[area];
    const isOver = seat >= this.seats;
    const radius = this.seats <= RING_MAX ? 1 : Math.sqrt(((seat % this.seats) + 0.5) / this.seats);
    const angle = seat * GOLDEN_TURN - Math.PI / 2;
    const share = isOver ? 0.4 : 0.37;
    // A little below the middle: the name is above.
    return [left + this.#width * (0.5 + share * radius * Math.cos(angle)), top + this.#height * (0.54 + share * radius * Math.sin(angle))];
  }
}

/** As many rows as make the boxes most like squares, with no box missing if that can be. */
function rowsOf(count: number, aspect: number): number {
  let [best, least] = [1, Infinity];
  for (let rows = 1; rows <= count; rows++) {
    const columns = Math.ceil(count / rows);
    const shape = Math.abs(Math.log((aspect / columns) * rows));
    const badness = shape + (columns * rows - count) / count;
    if (badness < least) [best, least] = [rows, badness];
  }
  return best;
}
