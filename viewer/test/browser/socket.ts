// Just enough of a WebSocket server to play a demo to the page: text frames under 64 kB, no fragments, no extensions.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export class Socket {
  readonly received: Record<string, unknown>[] = [];
  readonly #stream: Duplex;
  #rest = Buffer.alloc(0);

  constructor(request: IncomingMessage, stream: Duplex) {
    this.#stream = stream;
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    stream.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    stream.on("data", (data: Buffer) => this.#hear(data));
    stream.on("error", () => undefined);
  }

  send(...lines: readonly object[]): void {
    const text = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
    const head = text.length < 126 ? Buffer.from([0x81, text.length]) : Buffer.from([0x81, 126, text.length >> 8, text.length & 255]);
    this.#stream.write(Buffer.concat([head, text]));
  }

  drop(): void {
    this.#stream.destroy();
  }

  #hear(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= 6) {
      const short = this.#rest[1] & 127;
      const start = short === 126 ? 4 : 2;
      const length = short === 126 ? this.#rest.readUInt16BE(2) : short;
      if (this.#rest.length < start + 4 + length) return;
      const mask = this.#rest.subarray(start, start + 4);
      const text = Buffer.from(this.#rest.subarray(start + 4, start + 4 + length).map((byte, at) => byte ^ mask[at % 4]));
      if ((this.#rest[0] & 15) === 1) this.received.push(JSON.parse(text.toString()));
      this.#rest = this.#rest.subarray(start + 4 + length);
    }
  }
}
