// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

/**
 * Whether a browser or a watchdog sent a request, not a client of the API. `path` must not contain keys (R46).
 *
 * @example
 * isProbe("GET", "/favicon.ico", false); // true
 */
export function isProbe(method: string, path: string, hasKey: boolean): boolean {
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(path);
}
