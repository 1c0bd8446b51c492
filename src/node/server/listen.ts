import type { AddressInfo } from "node:net";
import { SandboxError } from "../../domain/errors.js";
import type { AnyServer } from "./connections.js";

/** Makes a server accept requests; throws `address_in_use` or `address_unavailable`. */
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

const wildcards = new Set(["0.0.0.0", "::"]);

/** Returns the base URL by which a client on this machine reaches the server. */
export function baseUrlOf({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  // A wildcard address is not one to connect to.
  const host = wildcards.has(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `${scheme}://${host}:${port}`;
}

/** Whether only this machine can reach the address. */
export function isLoopback({ address }: AddressInfo): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}

/** Whether a `Host` header names this machine, whatever its port. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}
