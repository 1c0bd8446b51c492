import type { AddressInfo } from "node:net";

const wildcards = new Set(["0.0.0.0", "::"]);

/** Whether an address stands for all addresses of this machine; it is not one to connect to. */
export function isWildcard(address: string): boolean {
  return wildcards.has(address);
}

/** Returns the host in URLs of a server that listens on an address, for clients on this machine. */
export function hostToConnectTo(address: string): string {
  return isWildcard(address) ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
}

/** Returns the base URL by which a client on this machine reaches the server. */
export function baseUrlOf({ address, port }: AddressInfo, scheme: "http" | "https"): string {
  return `${scheme}://${hostToConnectTo(address)}:${port}`;
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
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    // The same address in IPv6, as it is typed and as URLs have it.
    /^\[::ffff:(?:127(?:\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4})\]$/.test(name)
  );
}
