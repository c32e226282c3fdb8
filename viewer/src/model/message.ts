// What a message is and what it carries, without knowing the algorithm.
import { type Fields, type Json, clipped, isFields, variant } from "../trace/record";

export class Content {
  readonly kind: string;
  /** Whether it brings what its receiver needs to be granted units. */
  readonly isToken: boolean;
  /** The units that travel with it. */
  readonly permits: readonly number[];
  readonly #all: Json;
  readonly #fields: Fields;
  readonly #token: Fields | null;

  constructor(kind: string, all: Json, brings: readonly string[]) {
    const fields = isFields(all) ? all : {};
    this.kind = kind;
    this.#all = all;
    this.#fields = fields;
    this.#token = isFields(fields.token) ? fields.token : null;
    this.permits = carried(fields, this.#token);
    this.isToken = brings.includes(kind);
  }

  get carriesUnits(): boolean {
    return this.isToken || this.permits.length > 0;
  }

  /** Whether it says the same: all that tells messages on the same way apart, which may overtake one another. */
  says(other: Content): boolean {
    return this.kind === other.kind && isSame(this.#all, other.#all, 0);
  }

  /** Its kind and what it carries, in a few words. Made when it is read: most messages are never looked at. */
  get label(): string {
    return clipped(words(this.kind, this.#fields, this.#token), 48);
  }
}

/** A name of the trace as words, which are never none. */
export function spoken(name: string): string {
  const words = name.replace(/[_\u0000-\u001f\u007f-\u009f]/g, " ");
  return words.trim() === "" ? "?" : words;
}

/** What a message says. Those that bring what a node needs are of these kinds. */
export function contentOf(message: Json | undefined, brings: readonly string[] = NONE_BRINGS): Content {
  const [kind, content] = variant(message) ?? ["message", message ?? null];
  return new Content(kind, content, brings);
}

const NONE_BRINGS: readonly string[] = [];

/** Two messages that differ only further inside than this are taken for the same. */
const DEPTH_MAX = 32;

function isSame(one: Json, other: Json, depth: number): boolean {
  if (one === other || depth > DEPTH_MAX) return true;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((part, at) => isSame(part, other[at], depth + 1));
  }
  if (!isFields(one) || !isFields(other)) return false;
  const names = Object.keys(one);
  const isThere = (name: string) => Object.hasOwn(other, name) && isSame(one[name], other[name], depth + 1);
  return names.length === Object.keys(other).length && names.every(isThere);
}

const NONE: readonly number[] = [];

function carried(fields: Fields, token: Fields | null): readonly number[] {
  const one = token?.permit ?? fields.permit;
  if (typeof one === "number") return [one];
  const several = token?.free ?? fields.permits ?? (isFields(fields.grant) ? fields.grant.permits : undefined);
  return Array.isArray(several) ? several.filter((permit): permit is number => typeof permit === "number").slice(0, 4096) : NONE;
}

function words(kind: string, fields: Fields, token: Fields | null): string {
  let text = spoken(kind);
  const permit = token?.permit ?? fields.permit;
  if (typeof permit === "number") text += kind === "token" ? ` ${permit}` : `, token ${permit}`;
  if (Array.isArray(token?.free)) text += `, ${token.free.length} free`;
  if (typeof fields.asks === "number") text += ", wanted back";
  if (Array.isArray(fields.permits)) text += ` of ${fields.permits.length}`;
  if (typeof fields.rank === "number" && fields.rank !== 0) text += `, rank ${fields.rank}`;
  if (Array.isArray(fields.height)) text += ` (${fields.height.slice(0, 8).map(String).join(",")})`;
  return text;
}
