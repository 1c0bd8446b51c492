import { cachedBy } from "../rules/cached-by.js";
import { mePath } from "../rules/outcomes.js";
import { encodePath, formOfPath } from "../rules/request-path.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { Endpoint } from "../sandbox/endpoint.js";

type ApiRoute = NonNullable<ApiCall["route"]>;

interface RouteTable {
  readonly exact: ReadonlyMap<string, ApiRoute>;
  /** The first that matches is the most exact one. */
  readonly patterns: readonly ApiRoute[];
}

/** The route of these endpoints at this path, in any spelling but for `/me`; `undefined` if there is none (404). */
export function routeAt(endpoints: readonly Endpoint[], path: string): ApiRoute | undefined {
  const { exact, patterns } = routesOf(endpoints);
  const exactRoute = exact.get(path);
  if (exactRoute !== undefined) return exactRoute;

  // Clients differ in what they encode. The path of the specification is exact.
  const encoded = encodePath(path);
  const encodedRoute = encoded === mePath ? undefined : exact.get(encoded);
  if (encodedRoute !== undefined || patterns.length === 0) return encodedRoute;

  const parts = encoded.split("/");
  return patterns.find((route) => matches(route.segments, parts));
}

function matches(segments: readonly string[], parts: readonly string[]): boolean {
  if (segments.length !== parts.length) return false;
  for (const [index, segment] of segments.entries()) {
    const part = parts[index];
    const isMatch = isParameter(segment) ? isValue(part) : part === segment;
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

const routesOf = /* @__PURE__ */ cachedBy((endpoints: readonly Endpoint[]): RouteTable => {
  // A route has all methods of its path, no matter how its parameters are named.
  const byForm = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const form = formOfPath(endpoint.path);
    const here = byForm.get(form);
    if (here === undefined) byForm.set(form, [endpoint]);
    else here.push(endpoint);
  }

  const exact = new Map<string, ApiRoute>();
  const patterns: ApiRoute[] = [];
  for (const here of byForm.values()) {
    const route = routeWith(here);
    if (route.isPattern) patterns.push(route);
    else exact.set(route.path, route);
  }
  patterns.sort((one, other) => (kindsIn(one) < kindsIn(other) ? -1 : 1));
  return { exact, patterns };
});

/** Sorts before another path if its first different segment is fixed, and the other's is a parameter. */
function kindsIn({ segments }: ApiRoute): string {
  return segments.map((segment) => (isParameter(segment) ? "b" : "a")).join("");
}

function routeWith(here: readonly Endpoint[]): ApiRoute {
  const methods = new Map<string, Endpoint>();
  for (const endpoint of here) {
    methods.set(endpoint.method, endpoint);
    // HEAD responds like GET, without the body (RFC 9110).
    if (endpoint.method === "GET") methods.set("HEAD", endpoint);
  }

  const path = encodePath((here[0] as Endpoint).path);
  const segments = path.split("/");
  const isPattern = segments.some(isParameter);
  const allow = [...methods.keys()].join(", ");
  return { path, segments, isPattern, methods, allow };
}
