import type { IncomingMessage } from "node:http";

/** A host with or without a port. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a server at the address listens on all addresses of this machine. */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** The host for URLs of an address that a server on this machine listens on. */
export function hostToConnectTo(address: string): string {
  if (isWildcard(address)) return "127.0.0.1";
  const isIPv6 = address.includes(":");
  return isIPv6 ? `[${address}]` : address;
}

/** Whether only this machine reaches the address. */
export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}

/** Whether a `Host` header, which may be a name and have a port, names only this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = hostName(host);
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    // An address of 127.0.0.0/8 in IPv6, as typed and as in URLs.
    /^\[::ffff:(?:127(?:\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4})\]$/.test(name)
  );
}

/** The name in a `Host` header: without its port, in lower case. */
export function hostName(host: string): string {
  return host.replace(/:\d*$/, "").toLowerCase();
}

/** The name in a `Host` header as certificates have it: an IPv6 address without brackets. */
export function certificateName(host: string): string {
  return hostName(host).replace(/^\[(.*)\]$/, "$1");
}

/** Reads a host with or without a port, in lower case; `undefined` for anything else. */
export function readHostName(text: string): string | undefined {
  return hostPattern.test(text) ? text.toLowerCase() : undefined;
}

/** The server's base URL as the sender of a request wrote it; `ownUrl` if the request has no host. A wrong one harms nobody else. */
export function baseUrlFor({ headers }: Pick<IncomingMessage, "headers">, ownUrl: string): string {
  const host = readHostName(headers.host ?? "");
  if (host === undefined) return ownUrl;
  const { protocol } = new URL(ownUrl);
  return `${protocol}//${host}`;
}
