// The pages about the papers have a text for every clause that the algorithms mark and for every rule that can be
// switched off, and for nothing else.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const SOURCE = "../crates/protocol/src";
type Texts = Readonly<Record<string, string>>;
const pages = JSON.parse(readFileSync("dist/clauses.json", "utf8")) as Record<string, { clauses: Texts; repairs: Texts }>;

/** The file of an algorithm, the folder beside it, and what it shares with another. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = { krl: ["krl", "dag"], hok: ["hok", "dag"], klme: ["klme"], "klme-ft": ["klme_ft", "tenure"] };

const FILES = readdirSync(SOURCE, { recursive: true }).map(String).filter((file) => file.endsWith(".rs"));
/** Marked at once, or by a handler of what went astray, which is told the mark. */
const MARK = /(?:\.clause|_astray)\(\s*"([^"]+)"/g;
const RULE = /Repair::new\(\s*\d+,\s*"([^"]+)"/g;

function sourceOf(names: readonly string[]): string {
  const files = FILES.filter((file) => names.includes(file.split(/[/.]/)[0]));
  return files.map((file) => readFileSync(`${SOURCE}/${file}`, "utf8")).join("\n");
}

function found(pattern: RegExp, source: string): string[] {
  return [...new Set([...source.matchAll(pattern)].map((match) => match[1]))].sort();
}

/** Those of these names that the page says nothing of, or next to nothing. */
function untold(names: readonly string[], texts: Texts): string[] {
  return names.filter((name) => (texts[name] ?? "").length < 12);
}

for (const [page, names] of Object.entries(ALGORITHMS)) {
  const source = sourceOf(names);
  const { clauses, repairs } = pages[page];

  test(`${page}: every clause has its text`, () => {
    const marks = found(MARK, source);
    assert.ok(marks.length > 10);
    assert.deepEqual(untold(marks, clauses), []);
  });

  test(`${page}: every text of a clause has its clause`, () => {
    // A mark such as `request` is that of a whole procedure, of which the code marks the lines: `request.1`.
    const isMarked = (mark: string) => source.includes(`"${mark}"`) || source.includes(`"${mark}.`);
    assert.deepEqual(Object.keys(clauses).filter((mark) => !isMarked(mark)), []);
  });

  test(`${page}: every rule that can be switched off has its text, and every such text its rule`, () => {
    const rules = found(RULE, source);
    assert.ok(rules.length > 5);
    assert.deepEqual(untold(rules, repairs), []);
    assert.deepEqual(Object.keys(repairs).sort(), rules);
  });
}

test("no other file marks clauses", () => {
  const others = FILES.map((file) => file.split(/[/.]/)[0]).filter((name) => !Object.values(ALGORITHMS).flat().includes(name));
  assert.ok(others.length > 5);
  assert.deepEqual(found(MARK, sourceOf(others)), []);
});
