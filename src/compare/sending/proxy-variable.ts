import { isLoopbackHost } from "../../node/host-names.js";
import type { Variables } from "../contract/keys-of-outcomes.js";

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Finds the variable with the proxy that other clients would use for a URL. */
export function findProxyVariable(url: string, env: Variables): string | undefined {
  const { protocol, host } = new URL(url);
  if (isLoopbackHost(host) || isWithoutProxy(url, env.NO_PROXY ?? env.no_proxy ?? "")) return undefined;
  const scheme = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const names = [scheme, scheme.toLowerCase(), "ALL_PROXY", "all_proxy"];
  return names.find((name) => env[name]);
}

/** Whether `NO_PROXY` has the host of a URL, or a domain that it is in: `api.example`, `.example`, `api.example:443` or `*`. */
function isWithoutProxy(url: string, noProxy: string): boolean {
  const { protocol, hostname, port } = new URL(url);
  const usedPort = port === "" ? defaultPorts[protocol] : port;
  for (const entry of noProxy.toLowerCase().split(/[\s,]+/)) {
    if (entry === "*") return true;
    // An IPv6 address has brackets in a URL, and may have none here: `2001:db8::1`.
    if (hostname === `[${entry}]`) return true;
    // `*.api.example:8443` and `.api.example:8443` have the domain `api.example` and the port 8443.
    const [, domain = "", onlyPort = usedPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (domain === "" || onlyPort !== usedPort) continue;
    if (hostname === domain || hostname.endsWith(`.${domain}`)) return true;
  }
  return false;
}
