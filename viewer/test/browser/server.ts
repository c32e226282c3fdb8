// The smallest server that speaks as `driftlock view` does, so that the page is tested without building the rest.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

export interface Served {
  readonly address: string;
  close(): void;
}

/** Serves the page with this trace, or without any. */
export async function serve(dist: string, trace: string | null): Promise<Served> {
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "/", "http://localhost").pathname.replace(/^\/secret\//, "") || "index.html";
    if (name === "feed.json" && trace) return response.end(JSON.stringify({ source: "file", name: "run.jsonl" }));
    const path = name === "trace" && trace ? trace : join(dist, name.replaceAll("/", ""));
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" });
    createReadStream(path).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/secret/`, close: () => server.close() };
}
