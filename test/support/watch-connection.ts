import { connect } from "node:net";
import { mePath } from "./send.js";

/** What a client saw on a connection of its own. */
export interface Watched {
  /** Everything that came, as Latin-1. */
  readonly text: string;
  /** How it was over: the server ended it or reset it, or the client gave up after nothing had come for a while. */
  readonly over: "ended" | "reset" | "given up";
}

/** How long nothing comes before a client gives up, in milliseconds. */
const silence = 300;

/**
 * Sends one request over `node:net` and watches what becomes of the connection. Gives up after some silence, which begins
 * when the whole response has come, or when `from` is resolved: a busy server may take longer for its first byte.
 */
export function watchConnection(
  port: number,
  { key, method = "GET", from }: { key: string; method?: string; from?: Promise<unknown> | undefined },
): Promise<Watched> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let text = "";
    let over: Watched["over"] = "ended";
    const giveUpLater = () =>
      socket.setTimeout(silence, () => {
        over = "given up";
        socket.destroy();
      });
    from?.then(giveUpLater);
    socket.on("connect", () => {
      socket.write(`${method} ${mePath} HTTP/1.1\r\nHost: any.example\r\nx-api-key: ${key}\r\n\r\n`);
    });
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const { announced, body } = readResponse(text);
      if (text.includes("\r\n\r\n") && (method === "HEAD" || body.length >= announced)) giveUpLater();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") over = "reset";
    });
    socket.on("close", () => resolve({ text, over }));
  });
}

/** Status, announced length and body of the one response in the text; the body may be shorter than announced. */
export function readResponse(text: string): { status: number; announced: number; body: string } {
  const headEnd = text.indexOf("\r\n\r\n");
  const head = text.slice(0, headEnd);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    announced: Number(/^content-length: (\d+)$/im.exec(head)?.[1]),
    body: text.slice(headEnd + 4),
  };
}
