// Makes dist/: one page, one script, one style sheet and the papers' clauses. The same sources give the same bytes.
import { build } from "esbuild";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { clausesOf } from "./clauses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
await mkdir(`${root}dist`, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: { viewer: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  // Not a module: a module does not load from a file, and the page has to open as one.
  format: "iife",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  sourcemap: false,
});
await copyFile(`${root}src/index.html`, `${root}dist/index.html`);
const clauses = await clausesOf(`${root}../docs/papers`);
await writeFile(`${root}dist/clauses.json`, JSON.stringify(clauses, null, 1) + "\n");
