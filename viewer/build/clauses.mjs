// What the pages about the papers say of every clause, for the panel that explains a step.
import { readFile, readdir } from "node:fs/promises";

/** The cells of a table's line; `\|` is part of a cell. */
function cells(line) {
  return line.replaceAll("\\|", "\u0000").split("|").slice(1, -1).map((cell) => cell.replaceAll("\u0000", "|").trim());
}

/** The tables of a page: their heads and rows. */
function tables(text) {
  const found = [];
  let table = null;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      table = null;
    } else if (table === null) {
      table = { head: cells(line), rows: [] };
      found.push(table);
    } else if (!/^\|[\s|:-]+\|$/.test(line)) {
      table.rows.push(cells(line));
    }
  }
  return found;
}

const marksIn = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
/** Markdown as plain words: the page shows text, never markup. */
const plain = (cell) => cell.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "").replaceAll("*", "");

/** A module of krl's appendix: the marks are those of its variants, in the same order. */
function modules(row, head) {
  const marks = marksIn(row[head.indexOf("mark")]);
  const names = row[0].split(";").map(plain);
  return marks.map((mark, at) => [mark, names.length === marks.length ? names.map((n) => n.trim()).slice(0, at + 1).join("; ") : plain(row[0])]);
}

/** One page: its paper, its clauses, and what can be switched off: repairs of the paper, or rules of our own. */
function page(text) {
  const about = text.split("\n").slice(2).join("\n").split("\n\n")[0].replaceAll("\n", " ");
  // What follows the year is about the page, not about the paper.
  const paper = /^.*?\b(?:19|20)\d\d\./.exec(about)?.[0] ?? `${about.split(" (")[0]}.`;
  const clauses = {};
  const repairs = {};
  for (const { head, rows } of tables(text)) {
    for (const row of rows) {
      if (head[0] === "mark") for (const mark of marksIn(row[0])) clauses[mark] = plain(row[1]);
      else if (head.includes("mark")) for (const [mark, words] of modules(row, head)) clauses[mark] = words;
      else if (head[0] === "repair" || head[0] === "rule") for (const name of marksIn(row[0])) repairs[name] = plain(row[1]);
    }
  }
  return { paper: plain(paper), clauses, repairs };
}

/** Every page of the folder, by its name. */
export async function clausesOf(folder) {
  const pages = {};
  for (const name of (await readdir(folder)).sort()) {
    if (name.endsWith(".md")) pages[name.slice(0, -3)] = page(await readFile(`${folder}/${name}`, "utf8"));
  }
  return pages;
}
