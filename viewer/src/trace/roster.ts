// The nodes of a run. A trace names them by ids, of any size and in any order; the page by places: 0, 1 and so on, in
// the order in which they come. Lines have places from the moment they are read, and people are shown ids.

export class Roster {
  /** The ids of those that joined; those that were there before have the ids of their places. */
  readonly #joined: number[] = [];
  readonly #places = new Map<number, number>();
  readonly #atStart: number;

  constructor(atStart: number) {
    this.#atStart = atStart;
  }

  get size(): number {
    return this.#atStart + this.#joined.length;
  }

  /** The place of a node, if there is one of this id. */
  placeOf(id: number): number | undefined {
    return id < this.#atStart ? id : this.#places.get(id);
  }

  idOf(place: number): number {
    return place < this.#atStart ? place : (this.#joined[place - this.#atStart] ?? place);
  }

  idsOf(places: readonly number[]): readonly number[] {
    return places.map((place) => this.idOf(place));
  }

  /** One more node. */
  add(id: number): void {
    this.#places.set(id, this.size);
    this.#joined.push(id);
  }
}
