import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type AddressInfo, isIP } from "node:net";

/** The path of the control plane; every other path belongs to the API. */
export const controlPath = "/__sandbox";

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
export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}

/** Whether a `Host` header names this machine, whatever its port. */
export function isLoopbackHost(host: string): boolean {
  const name = nameIn(host);
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    // The same address in IPv6, as it is typed and as URLs have it.
    /^\[::ffff:(?:127(?:\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4})\]$/.test(name)
  );
}

/** Returns the name in a `Host` header, without its port. */
export function nameIn(host: string): string {
  return host.replace(/:\d*$/, "").toLowerCase();
}

const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the name in a `Host` header as certificates have it: an IPv6 address without its brackets. */
export function bareName(host: string): string {
  return nameIn(host).replace(/^\[(.*)\]$/, "$1");
}

/** Reads a name or an address with or without a port, as it stands in a `Host` header; `undefined` for anything else. */
export function readHostName(text: string): string | undefined {
  return hostPattern.test(text) ? text.toLowerCase() : undefined;
}

/**
 * Reads `10.1.2.3`, `10.0.0.0/8` or the same of IPv6 as a network: its first address, and the bits that its addresses have
 * in common; `undefined` for anything else.
 */
export function readNetwork(
  text: string,
): [address: string, bits: number, family: "ipv4" | "ipv6"] | undefined {
  const [, address = "", given] = /^([\d.a-f:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  const most = version === 6 ? 128 : 32;
  const bits = Number(given ?? most);
  return version === 0 || bits > most ? undefined : [address, bits, version === 6 ? "ipv6" : "ipv4"];
}

/** Reads a URL of HTTP or HTTPS without a name or a password in it; `undefined` for anything else. */
export function readHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp && url.username === "" && url.password === "" ? url : undefined;
}

/** Reads a base URL, and returns it without a slash at its end; `undefined` for one that cannot be one. */
export function readBaseUrl(text: string): string | undefined {
  const url = readHttpUrl(text);
  return url?.search === "" && url.hash === "" ? url.href.replace(/\/+$/, "") : undefined;
}

/**
 * Returns the base URL by which the sender of a request reaches the server; `own` when the request does not say it.
 *
 * A proxy on this machine is believed (`Forwarded`, else `X-Forwarded-Host`, `-Proto` and `-Port`), any other sender only
 * in its `Host`. The sender alone gets to see the URL, so a wrong one harms nobody else.
 */
export function baseUrlFor({ headers, socket }: IncomingMessage, own: string): string {
  const proxied = isLoopback(socket.remoteAddress ?? "") ? forwardedIn(headers) : {};
  const host = readHostName(proxied.host ?? headers.host ?? "");
  if (host === undefined) return own;
  const scheme = proxied.scheme ?? new URL(own).protocol.slice(0, -1);
  return `${scheme}://${host}`;
}

// Of several proxies the first one is the one that the client asked.
function forwardedIn(headers: IncomingHttpHeaders): {
  host?: string | undefined;
  scheme?: string | undefined;
} {
  const first = (name: string) =>
    String(headers[name] ?? "")
      .split(",")[0]
      ?.trim() || undefined;
  const scheme = (text = "") => /^https?$/i.exec(text)?.[0].toLowerCase();
  const forwarded = first("forwarded");
  if (forwarded !== undefined) {
    const member = (name: string) =>
      new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*"?([^";]+)`, "i").exec(forwarded)?.[1]?.trim();
    return { host: member("host"), scheme: scheme(member("proto")) };
  }
  const host = first("x-forwarded-host");
  const port = first("x-forwarded-port");
  const withPort =
    host !== undefined && port !== undefined && !/:\d+$/.test(host) && !/^(?:80|443)$/.test(port);
  return { host: withPort ? `${host}:${port}` : host, scheme: scheme(first("x-forwarded-proto")) };
}
