/** A host with or without a port. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a server at the address listens on all addresses of this machine. */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
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

/** Reads a host with or without a port, in lower case; `undefined` for anything else. */
export function readHostName(text: string): string | undefined {
  return hostPattern.test(text) ? text.toLowerCase() : undefined;
}
