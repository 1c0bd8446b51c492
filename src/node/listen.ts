import type { AddressInfo } from "node:net";
import { SandboxError } from "../domain/errors.js";
import type { AnyServer } from "./http-server.js";

/** Lets a server accept requests; throws `address_in_use` or `address_unavailable`. */
export function listen(server: AnyServer, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, port, host)));
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const where = `port ${port} on ${host}`;
  if (error.code === "EADDRINUSE") {
    return new SandboxError(
      "address_in_use",
      `Failed to listen on ${where}: another program uses it. Choose another with --port, or any free one with --port 0.`,
      { port, host },
    );
  }
  const reason =
    error.code === "EACCES" ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on ${where}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}

/** Stops accepting; open requests have `grace` milliseconds to finish. */
export function close(server: AnyServer, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), grace);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
