import type { Duplex } from "node:stream";
import { connectionReset } from "../library/web-request.js";
import { clearTimeout, setImmediate, setTimeout } from "../node/platform.js";

const { duplexPair } = process.getBuiltinModule("node:stream");

const longestTimer = 2 ** 31 - 1;

/** The two ends of a connection inside this process, with what an HTTP client and our server ask of a socket. */
export function connectionPair(): { readonly client: Duplex; readonly server: Duplex } {
  const [client, server] = duplexPair();
  // As a socket does: an answer that is awaited keeps the process alive.
  const awaited = setTimeout(() => {}, longestTimer);
  client.once("close", () => {
    clearTimeout(awaited);
    server.destroy();
  });
  server.once("close", () => client.push(null));
  return {
    client: Object.assign(client, { ref: () => awaited.ref(), unref: () => awaited.unref() }),
    // The end comes in a turn of its own: undici's `fetch` misses one that comes together with the head of an answer.
    server: Object.assign(server, {
      destroySoon: () => void setImmediate(() => server.end(() => server.destroy())),
      resetAndDestroy: () =>
        void setImmediate(() => {
          client.destroy(connectionReset());
          server.destroy();
        }),
    }),
  };
}
