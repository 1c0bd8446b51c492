import type { AddressInfo } from "node:net";

const everywhere = new Set(["0.0.0.0", "::"]);

/** The base URL under which a client on this machine reaches the server. */
export function baseUrlOf({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  // A server that listens everywhere is reached on loopback; its wildcard address is not one to connect to.
  const host = everywhere.has(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
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
