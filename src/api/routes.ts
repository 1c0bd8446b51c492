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
  const route = encoded === mePath ? undefined : exact.get(encoded);
  if (route !== undefined || patterns.length === 0) return route;
  const parts = encoded.split("/");
  return patterns.find(
    ({ segments }) =>
      segments.length === parts.length &&
      segments.every((segment, i) => (isParameter(segment) ? isValue(parts[i]) : segment === parts[i])),
  );
}

/** Whether a segment can be the value of a parameter: clients resolve `.` and `..`. */
function isValue(segment = ""): boolean {
  return !["", ".", ".."].includes(segment);
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}

const routesOf = /* @__PURE__ */ cachedBy((chosen: readonly Endpoint[]): RouteTable => {
  const shapes = new Map<string, Endpoint[]>();
  for (const endpoint of chosen) {
    const shape = formOfPath(endpoint.path);
    shapes.set(shape, [...(shapes.get(shape) ?? []), endpoint]);
  }
  const routes = Array.from(shapes.values(), routeWith);
  return {
    exact: new Map(routes.filter(({ isPattern }) => !isPattern).map((route) => [route.path, route])),
    patterns: routes
      .filter(({ isPattern }) => isPattern)
      .sort((one, other) => (kindsIn(one) < kindsIn(other) ? -1 : 1)),
  };
});

/** Sorts before another path if its first different segment is fixed, and the other's is a parameter. */
function kindsIn({ segments }: ApiRoute): string {
  return segments.map((segment) => (isParameter(segment) ? "b" : "a")).join("");
}

function routeWith(here: readonly Endpoint[]): ApiRoute {
  const path = encodePath((here[0] as Endpoint).path);
  // HEAD responds like GET, without the body (RFC 9110).
  const accepted = ({ method }: Endpoint) => (method === "GET" ? ["GET", "HEAD"] : [method]);
  const methods = new Map(here.flatMap((one) => accepted(one).map((method) => [method, one] as const)));
  const segments = path.split("/");
  return {
    path,
    segments,
    isPattern: segments.some(isParameter),
    methods,
    allow: [...methods.keys()].join(", "),
  };
}
