import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";

/** What goes out on a connection, as bytes that no HTTP client would send. */
export interface RawSending {
  /** Written one after the other, with a turn of the event loop after each; text goes out as Latin-1. */
  readonly chunks: readonly (string | Buffer)[];
  /**
   * What happens after the last one: the sending half is closed, the connection is left open until nothing more comes or
   * until the server closes it, or it is reset. Default: `end`.
   */
  readonly after?: "end" | "listen" | "stay" | "reset";
}

// Long enough for a response on this machine, short enough for thousands of connections.
const quietAfter = 80;
// A busy machine may take seconds to load what the first call needs.
const giveUpAfter = 30_000;

/**
 * Sends bytes on a connection of their own; resolves with everything that came back once the connection is over. With a
 * certificate to trust the connection is encrypted.
 */
export function converse(
  port: number,
  { chunks, after = "end" }: RawSending,
  ca?: string | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const place = { port, host: "127.0.0.1", allowHalfOpen: true };
    const bare = connect(place);
    const socket = ca === undefined ? bare : connectTls({ ...place, ca, socket: bare });
    const giveUp = () => {
      socket.destroy();
      reject(new Error(`the server neither responded nor closed within ${giveUpAfter} ms`));
    };
    let endless = setTimeout(giveUp, giveUpAfter);
    let quiet: NodeJS.Timeout | undefined;
    const listen = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), quietAfter);
    };
    socket.on("data", (chunk) => {
      received.push(chunk);
      if (quiet !== undefined) listen();
    });
    socket.on("end", () => socket.end());
    // A server may reset a connection on which it is sent nonsense; what came before that still counts.
    for (const one of [bare, socket]) one.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(endless);
      clearTimeout(quiet);
      resolve(Buffer.concat(received));
    });
    socket.on(ca === undefined ? "connect" : "secureConnect", async () => {
      await writeAll(socket, chunks);
      // A busy client may take its time for each of many pieces.
      clearTimeout(endless);
      if (!socket.closed) endless = setTimeout(giveUp, giveUpAfter);
      if (after === "end") socket.end();
      else if (after === "listen") listen();
      else if (after === "reset") bare.resetAndDestroy();
    });
  });
}

async function writeAll(socket: Socket, chunks: readonly (string | Buffer)[]): Promise<void> {
  socket.setNoDelay(true);
  for (const chunk of chunks) {
    // A server that has had enough may close at any byte.
    if (!socket.writable) return;
    socket.write(typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk);
    await nextTurn();
  }
}

/** One response as it came over the wire. */
export interface RawResponse {
  readonly status: number;
  /** The status line and the header lines, without the empty line after them. */
  readonly head: string;
  readonly body: string;
}

/**
 * Takes the bytes of a connection apart into the responses on it; throws on anything that is not HTTP/1.1. A response whose
 * announced body does not follow is one to a HEAD.
 */
export function readResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let text = bytes.toString("latin1");
  while (text !== "") {
    const headEnd = text.indexOf("\r\n\r\n");
    const head = text.slice(0, headEnd);
    const line = /^HTTP\/1\.1 ([1-9]\d\d) [ -~]*$/m.exec(head.split("\r\n", 1)[0] as string);
    if (headEnd === -1 || line === null) {
      throw new Error(`not a response: ${JSON.stringify(text.slice(0, 200))}`);
    }
    const rest = text.slice(headEnd + 4);
    const announced = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const length = rest === "" || rest.startsWith("HTTP/1.1 ") ? 0 : announced;
    if (rest.length < length) {
      throw new Error(`a response was cut short: ${JSON.stringify(text.slice(0, 200))}`);
    }
    const body = Buffer.from(rest.slice(0, length), "latin1").toString("utf8");
    responses.push({ status: Number(line[1]), head, body });
    text = rest.slice(length);
  }
  return responses;
}
