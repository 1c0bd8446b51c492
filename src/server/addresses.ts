import type { IncomingMessage } from "node:http";
import { readBaseUrl } from "../library/base-url.js";
import { hostName, readHostName } from "../node/host-names.js";
import { SandboxError } from "../rules/errors.js";

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

/** The names of a server that only its user knows, such as those of a proxy. */
interface PublicNames {
  /** The base URL for clients anywhere, without a slash at its end; `undefined` for the server's own. */
  readonly publicUrl: string | undefined;
  /** The names besides this machine's own, in lower case, some with a port. */
  readonly allowedHosts: readonly string[];
}

/** Reads the names. Throws `usage` for a public URL or an allowed host that is none. */
export function readPublicNames(
  publicUrl: string | URL | undefined,
  allowHosts: readonly string[] = [],
): PublicNames {
  const allowedHosts = allowHosts.map((text) => {
    const host = readHostName(text);
    if (host !== undefined) return host;
    throw new SandboxError("usage", "Invalid allowed host: use a name such as sandbox.example.");
  });
  if (publicUrl === undefined) return { publicUrl, allowedHosts };

  const url = readBaseUrl(String(publicUrl));
  if (url === undefined) {
    throw new SandboxError("usage", "Invalid public URL: use one such as https://sandbox.example.");
  }
  return { publicUrl: url, allowedHosts: [new URL(url).host, ...allowedHosts] };
}

/** The name in a `Host` header as certificates have it: an IPv6 address without brackets. */
export function certificateName(host: string): string {
  return hostName(host).replace(/^\[(.*)\]$/, "$1");
}
