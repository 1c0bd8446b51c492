import type { IncomingMessage } from "node:http";

export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

export function hostToConnectTo(address: string): string {
  return isWildcard(address) ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
}

export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}

export function isLoopbackHost(host: string): boolean {
  const name = nameIn(host);
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    // The same address in IPv6, as typed and as in URLs.
    /^\[::ffff:(?:127(?:\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4})\]$/.test(name)
  );
}

export function nameIn(host: string): string {
  return host.replace(/:\d*$/, "").toLowerCase();
}

const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the name in a `Host` header as in certificates: an IPv6 address without brackets. */
export function bareName(host: string): string {
  return nameIn(host).replace(/^\[(.*)\]$/, "$1");
}

export function readHostName(text: string): string | undefined {
  return hostPattern.test(text) ? text.toLowerCase() : undefined;
}

export function readHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp && url.username === "" && url.password === "" ? url : undefined;
}

export function readBaseUrl(text: string): string | undefined {
  const url = readHttpUrl(text);
  return url?.search === "" && url.hash === "" ? url.href.replace(/\/+$/, "") : undefined;
}

/** The server's base URL as its sender wrote it; `ownUrl` if a request has none. A wrong one harms nobody else. */
export function baseUrlFor({ headers }: Pick<IncomingMessage, "headers">, ownUrl: string): string {
  const host = readHostName(headers.host ?? "");
  return host === undefined ? ownUrl : `${new URL(ownUrl).protocol}//${host}`;
}
