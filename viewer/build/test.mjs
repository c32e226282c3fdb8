// Bundles the tests of one folder and runs them with node's own runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.argv[2] ?? "test";
const names = readdirSync(root + folder).filter((name) => name.endsWith(".test.ts"));
await build({
  absWorkingDir: root,
  entryPoints: names.map((name) => `${folder}/${name}`),
  outdir: `test/out/${folder}`,
  bundle: true,
  format: "esm",
  platform: "node",
  external: ["playwright-core", "esbuild"],
});
const files = names.map((name) => `test/out/${folder}/${name.replace(/ts$/, "js")}`);
const run = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...files], { cwd: root, stdio: "inherit" });
process.exit(run.status ?? 1);
