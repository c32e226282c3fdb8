// The page with something to show: by `driftlock view` if the variable DRIFTLOCK names the program, else by the
// smallest server that speaks as it does.
import { execFileSync, spawn } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Duplex } from "node:stream";
import { Socket } from "./socket";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

export interface Served {
  readonly address: string;
  close(): void;
}

export async function view(trace: string): Promise<Served> {
  const program = process.env.DRIFTLOCK;
  return program ? started("view", trace) : serve("dist", trace);
}

/** What a test says that can do nothing without the program. */
export const WITHOUT_PROGRAM = process.env.DRIFTLOCK ? false : "DRIFTLOCK does not name the program";

/** Lets the program do something that ends by itself. */
export function driftlock(...args: readonly string[]): void {
  execFileSync(process.env.DRIFTLOCK!, args, { stdio: "ignore" });
}

/** Serves the page with this trace, with a stream, or without anything. */
export async function serve(dist: string, trace: string | null, stream?: (socket: Socket) => void): Promise<Served> {
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "/", "http://localhost").pathname.replace(/^\/secret\//, "") || "index.html";
    if (name === "feed.json" && stream) return response.end(JSON.stringify({ source: "stream", name: "demo" }));
    if (name === "feed.json" && trace) return response.end(JSON.stringify({ source: "file", name: "run.jsonl" }));
    const path = name === "trace" && trace ? trace : join(dist, name.replaceAll("/", ""));
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" });
    createReadStream(path).pipe(response);
  });
  const upgraded: Duplex[] = [];
  server.on("upgrade", (request, socket) => {
    upgraded.push(socket);
    stream?.(new Socket(request, socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/secret/`, close: () => {
    server.close();
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
  } };
}

/** The program, serving its page. */
export async function started(...args: readonly string[]): Promise<Served> {
  const child = spawn(process.env.DRIFTLOCK!, args, { stdio: ["ignore", "pipe", "pipe"] });
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    const hear = (data: Buffer) => {
      said += String(data);
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
  return { address, close: () => void child.kill() };
}
