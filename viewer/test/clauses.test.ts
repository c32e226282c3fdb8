// The pages about the papers have a text for every clause that the algorithms mark and for every rule that can be
// switched off, and for nothing else.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const SOURCE = "../crates/protocol/src";
const PAPERS = "../docs/papers";
type Texts = Readonly<Record<string, string>>;
const pages = JSON.parse(readFileSync("dist/clauses.json", "utf8")) as Record<string, { clauses: Texts; repairs: Texts }>;

/** The files that a page names, or rather the file or folder of each that is nearest to the source's. */
function namedBy(page: string): readonly string[] {
  const text = readFileSync(`${PAPERS}/${page}.md`, "utf8");
  const paths = [...text.matchAll(/[a-z_]+(?:\/[a-z_]+)*\.rs/g)].map(([path]) => path.replace("crates/protocol/src/", ""));
  const names = paths.map((path) => path.split(/[/.]/)[0]);
  return [...new Set(names)].filter((name) => existsSync(`${SOURCE}/${name}.rs`));
}

/** For each page the file of its algorithm, the folder beside it, and what it shares with another. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(Object.keys(pages).map((page) => [page, namedBy(page)]));

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
    assert.ok(marks.length > 0, "the page says which files are its algorithm");
    assert.deepEqual(untold(marks, clauses), []);
  });

  test(`${page}: every text of a clause has its clause`, () => {
    // A mark such as `request` is that of a whole procedure, of which the code marks the lines: `request.1`.
    const isMarked = (mark: string) => source.includes(`"${mark}"`) || source.includes(`"${mark}.`);
    assert.deepEqual(Object.keys(clauses).filter((mark) => !isMarked(mark)), []);
  });

  test(`${page}: every rule that can be switched off has its text, and every such text its rule`, () => {
    const rules = found(RULE, source);
    assert.deepEqual(untold(rules, repairs), []);
    assert.deepEqual(Object.keys(repairs).sort(), rules);
  });
}

test("marks and rules are found at all", () => {
  const source = sourceOf(Object.values(ALGORITHMS).flat());
  assert.ok(found(MARK, source).length > 40 && found(RULE, source).length > 20);
});

test("no other file marks clauses", () => {
  const others = FILES.map((file) => file.split(/[/.]/)[0]).filter((name) => !Object.values(ALGORITHMS).flat().includes(name));
  assert.ok(others.length > 5);
  assert.deepEqual(found(MARK, sourceOf(others)), []);
});
