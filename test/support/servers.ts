import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";
import { type ServerOptions, startServer } from "../../src/server/index.js";

/** Serves a sandbox until the test is over. */
export const served = (async (options?: ServerOptions) => {
  const server = await startServer(options as ServerOptions);
  onTestFinished(() => server.close(0));
  return server;
}) as typeof startServer;

/** Makes a server listen on a free port until the test is over; resolves to the port. */
export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
