import { cachedByObject } from "../rules/cached-by.js";
import { canonicalPath, pathWithoutParameterNames } from "../rules/canonical-path.js";
import { mePath } from "../rules/known-paths.js";
import type { ApiRoute, Endpoint } from "../sandbox/call.js";

interface RouteTable {
  /** The routes without parameters, by path. */
  readonly exact: ReadonlyMap<string, ApiRoute>;
  /** The other routes, the most exact first: the first that matches is meant. */
  readonly patterns: readonly ApiRoute[];
}

/** The route of these endpoints at this path; `undefined` if there is none (404). */
export function routeAt(endpoints: readonly Endpoint[], path: string): ApiRoute | undefined {
  const { exact, patterns } = routeTable(endpoints);
  const routeAsWritten = exact.get(path);
  if (routeAsWritten !== undefined) return routeAsWritten;

  // Clients differ in what they encode: `/v1/item%73` is `/v1/items`. The path of `/me` is matched only as it is written (R8), so
  // `/v1/relying-party/%6De` gets a 404.
  const canonical = canonicalPath(path);
  if (canonical !== mePath) {
    const exactRoute = exact.get(canonical);
    if (exactRoute !== undefined) return exactRoute;
  }

  if (patterns.length === 0) return undefined;
  const segments = canonical.split("/");
  return patterns.find((route) => matches(route, segments));
}

/** Made once for the endpoints of a sandbox. */
const routeTable = /* @__PURE__ */ cachedByObject((endpoints: readonly Endpoint[]): RouteTable => {
  // A route has all methods of its path, no matter how its parameters are named.
  const byForm = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const form = pathWithoutParameterNames(endpoint.path);
    const sameForm = byForm.get(form);
    if (sameForm === undefined) byForm.set(form, [endpoint]);
    else sameForm.push(endpoint);
  }

  const exact = new Map<string, ApiRoute>();
  const patterns: ApiRoute[] = [];
  for (const sameForm of byForm.values()) {
    const route = makeRoute(sameForm);
    if (route.isPattern) patterns.push(route);
    else exact.set(route.path, route);
  }
  // `/v1/y/{b}` and `/v1/{a}/x` both match `/v1/y/x`: `/v1/y/{b}` comes first, because the first difference from the left decides.
  // Routes with equal keys have parameters in the same places and differ in a fixed segment, so no path matches both.
  patterns.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  return { exact, patterns };
});

/** The route of endpoints with the same path. */
function makeRoute(endpoints: readonly Endpoint[]): ApiRoute {
  const methods = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    methods.set(endpoint.method, endpoint);
    // HEAD responds like GET, without the body (RFC 9110).
    if (endpoint.method === "GET") methods.set("HEAD", endpoint);
  }

  const path = canonicalPath((endpoints[0] as Endpoint).path);
  const segments = path.split("/");
  const isPattern = segments.some(isParameter);
  const allow = [...methods.keys()].join(", ");
  return { path, segments, isPattern, methods, allow };
}

/** The text by which routes are sorted: `a` for a fixed segment, `b` for a parameter, so `aab` for `/v1/{id}`, whose first segment is empty. */
function sortKey({ segments }: ApiRoute): string {
  return segments.map((segment) => (isParameter(segment) ? "b" : "a")).join("");
}

/** Whether a path with these segments is one of a route. */
function matches(route: ApiRoute, segments: readonly string[]): boolean {
  if (route.segments.length !== segments.length) return false;
  for (const [index, wanted] of route.segments.entries()) {
    const segment = segments[index];
    const isMatch = isParameter(wanted) ? isValue(segment) : segment === wanted;
    if (!isMatch) return false;
  }
  return true;
}

/** Whether a segment can be the value of a parameter: clients resolve `.` and `..`. */
function isValue(segment = ""): boolean {
  return !["", ".", ".."].includes(segment);
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}
