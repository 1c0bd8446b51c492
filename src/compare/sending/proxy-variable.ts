import { isLoopbackHost } from "../../node/host-names.js";
import type { Variables } from "../contract/key-variables.js";

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `*.api.example:8443`, or `.api.example:8443`: the domain is `api.example`, and the only port is `8443`. */
const noProxyEntry = /^\*?\.?(?<domain>.*?)(?::(?<onlyPort>\d+))?$/;

/** Finds the variable with the proxy that other clients would use for a URL. */
export function findProxyVariable(url: string, env: Variables): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (isLoopbackHost(hostname) || isWithoutProxy(url, env.NO_PROXY ?? env.no_proxy ?? "")) return undefined;
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
    const { domain = "", onlyPort } = noProxyEntry.exec(entry)?.groups ?? {};
    if (domain === "") continue;
    if (onlyPort !== undefined && onlyPort !== usedPort) continue;
    if (hostname === domain || hostname.endsWith(`.${domain}`)) return true;
  }
  return false;
}
