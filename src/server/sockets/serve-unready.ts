import { errorBody } from "../../api/messages.js";
import { controlPath } from "../../node/addresses.js";
import { version } from "../../node/package-files.js";
import { listen } from "./listen.js";
import { refuseUnstored } from "./send-answer.js";

const http = process.getBuiltinModule("node:http");

/**
 * Serves 503 over HTTP in place of a sandbox whose store cannot be reached yet: probes find a live process that is not
 * ready. Returns how to close it. Throws `address_in_use` or `address_unavailable`.
 */
export async function serveUnready(port: number, host: string): Promise<() => Promise<void>> {
  const json = { "Content-Type": "application/json" };
  const server = http.createServer(({ url }, response) => {
    if (url === `${controlPath}/health`) {
      response.writeHead(200, json).end(JSON.stringify({ status: "ok", version, store: "unreachable" }));
    } else if (url === `${controlPath}/ready`) {
      response.writeHead(503, json).end(errorBody("not_ready", unreachable).text);
    } else refuseUnstored(response);
  });
  await listen(server, port, host);
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

/** Why a server whose store is away is not ready. */
export const unreachable = "The store cannot be reached.";
