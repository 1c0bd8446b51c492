import type { Duplex } from "node:stream";
import { connectionReset } from "../library/web-request.js";
import { clearTimeout, setImmediate, setTimeout } from "../node/platform.js";

const { duplexPair } = process.getBuiltinModule("node:stream");

const longestTimer = 2 ** 31 - 1;

/** The two ends of a connection inside this process, with the socket methods that an HTTP client and our server use. */
export function connectionPair(): { readonly client: Duplex; readonly server: Duplex } {
  const [client, server] = duplexPair();
  // Like a socket, it keeps the process alive while a response is awaited.
  const awaited = setTimeout(() => {}, longestTimer);
  client.once("close", () => {
    clearTimeout(awaited);
    server.destroy();
  });
  server.once("close", () => client.push(null));
  return {
    client: Object.assign(client, { ref: () => awaited.ref(), unref: () => awaited.unref() }),
    // Delayed, because undici's `fetch` misses an end that arrives together with the head of a response.
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
