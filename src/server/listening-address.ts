import type { IncomingMessage } from "node:http";
import { readHostName } from "../node/host-names.js";

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

/** The server's base URL as the sender of a request wrote it; `ownUrl` if the request has no host. A wrong one harms nobody else. */
export function baseUrlFor({ headers }: Pick<IncomingMessage, "headers">, ownUrl: string): string {
  const host = readHostName(headers.host ?? "");
  if (host === undefined) return ownUrl;
  // `ownUrl` cannot be parsed if it has the zone of an IPv6 address, such as `http://[fe80::1%eth0]:80`.
  const [scheme] = ownUrl.split("://", 1);
  return `${scheme}://${host}`;
}
