// The pages about the papers have a text for every clause that the algorithms mark.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const SOURCE = "../crates/protocol/src";
const pages = JSON.parse(readFileSync("dist/clauses.json", "utf8")) as Record<string, { clauses: Record<string, string> }>;

/** The file of an algorithm, the folder beside it, and what it shares with another. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = { krl: ["krl", "dag"], hok: ["hok", "dag"], klme: ["klme"], "klme-ft": ["klme_ft"] };

function marksOf(name: string): string[] {
  const files = [`${SOURCE}/${name}.rs`, ...readdirSync(`${SOURCE}/${name}`).map((file) => `${SOURCE}/${name}/${file}`)];
  return files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(/\.clause\(\s*"([^"]+)"/g)].map((match) => match[1]));
}

for (const [page, names] of Object.entries(ALGORITHMS)) {
  test(`${page}: every clause has its text`, () => {
    const marks = new Set(names.flatMap(marksOf));
    assert.ok(marks.size > 10);
    assert.deepEqual([...marks].filter((mark) => (pages[page].clauses[mark] ?? "").length < 12), []);
  });
}

test("no other file marks clauses", () => {
  const known = Object.values(ALGORITHMS).flat();
  const others = readdirSync(SOURCE, { recursive: true }).map(String).filter((file) => file.endsWith(".rs") && !known.includes(file.split(/[/.]/)[0]));
  for (const file of others) assert.ok(!/\.clause\(\s*"/.test(readFileSync(`${SOURCE}/${file}`, "utf8")), file);
});
