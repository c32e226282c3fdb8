// Makes dist/: one page, one script, one style sheet and the papers' clauses. The same sources give the same bytes; with
// --check nothing is written, and it fails if dist/ is not what the sources give.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { clausesOf } from "./clauses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

async function made() {
  const { outputFiles } = await build({
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
    write: false,
  });
  const files = new Map(outputFiles.map((file) => [file.path.split(/[\\/]/).at(-1), file.text]));
  files.set("index.html", await readFile(`${root}src/index.html`, "utf8"));
  files.set("clauses.json", JSON.stringify(await clausesOf(`${root}../docs/papers`), null, 1) + "\n");
  return files;
}

async function isCurrent(name, text) {
  const there = await readFile(`${root}dist/${name}`, "utf8").catch(() => null);
  if (there !== text) console.error(`dist/${name} is not what the sources give: run npm run build`);
  return there === text;
}

const files = await made();
if (process.argv.includes("--check")) {
  const current = await Promise.all([...files].map(([name, text]) => isCurrent(name, text)));
  process.exit(current.every(Boolean) ? 0 : 1);
}
await mkdir(`${root}dist`, { recursive: true });
for (const [name, text] of files) await writeFile(`${root}dist/${name}`, text);
