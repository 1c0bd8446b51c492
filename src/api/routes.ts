import { encodePath } from "../rules/redact.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { SandboxState } from "../sandbox/sandbox.js";

export interface ApiRoute {
  /** A name in braces matches any text in its segment. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly isPattern: boolean;
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly allow: string;
}

interface RouteTable {
  readonly exact: ReadonlyMap<string, ApiRoute>;
  readonly patterns: readonly ApiRoute[];
}

const tables = new WeakMap<readonly Endpoint[], RouteTable>();

/** The route of these endpoints at exactly this path, in any spelling of its characters; `undefined` if there is none (404). */
export function routeAt(endpoints: readonly Endpoint[], path: string): ApiRoute | undefined {
  let table = tables.get(endpoints);
  if (table === undefined) {
    table = routesOf(endpoints);
    tables.set(endpoints, table);
  }
  const { exact, patterns } = table;
  const exactRoute = exact.get(path);
  if (exactRoute !== undefined) return exactRoute;
  // Clients differ in what they encode.
  const encoded = encodePath(path);
  const route = exact.get(encoded);
  if (route !== undefined || patterns.length === 0) return route;
  const segmentsOf = encoded.split("/");
  return patterns.find(
    ({ segments }) =>
      segments.length === segmentsOf.length &&
      segments.every((segment, i) =>
        isParameter(segment) ? valueIn(segment, segmentsOf[i] as string) !== "" : segment === segmentsOf[i],
      ),
  );
}

export function routeOf(sandbox: SandboxState, path: string): ApiRoute | undefined {
  return routeAt(sandbox.endpoints, path);
}

export function parametersIn(endpoint: Endpoint, path: string): Readonly<Record<string, string>> {
  const decodedSegments = path.split("/");
  const encoded = encodePath(path).split("/");
  const values = endpoint.path.split("/").flatMap((segment, i) => {
    const [, name] = /\{(.*)\}/.exec(segment) ?? [];
    if (name === undefined) return [];
    // As it is sent, unless the text around it is spelled in another way.
    return [
      [name, valueIn(segment, decodedSegments[i] ?? "") || valueIn(segment, encoded[i] ?? "")] as const,
    ];
  });
  return Object.fromEntries(values);
}

/** The part of a path's segment in place of a name in braces, such as `4` of `4.json` for `{id}.json`; empty for no match. */
function valueIn(segment: string, given: string): string {
  const [before = "", after = ""] = segment.split(/\{.*\}/);
  const isMatch = given.startsWith(before) && given.endsWith(after);
  return isMatch ? given.slice(before.length, given.length - after.length) : "";
}

function isParameter(segment: string): boolean {
  return segment.includes("{");
}

function routesOf(chosen: readonly Endpoint[]): RouteTable {
  const shapes = new Map<string, Endpoint[]>();
  for (const endpoint of chosen) {
    const shape = endpoint.path.replace(/\{[^{}]*\}/g, "{}");
    shapes.set(shape, [...(shapes.get(shape) ?? []), endpoint]);
  }
  const routes = Array.from(shapes.values(), routeWith);
  return {
    exact: new Map(routes.filter(({ isPattern }) => !isPattern).map((route) => [route.path, route])),
    patterns: routes.filter(({ isPattern }) => isPattern),
  };
}

function routeWith(here: readonly Endpoint[]): ApiRoute {
  const { path } = here[0] as Endpoint;
  // HEAD responds like GET, without the body (RFC 9110), unless a document has its own.
  const hasHead = here.some(({ method }) => method === "HEAD");
  const accepted = ({ method }: Endpoint) => (method === "GET" && !hasHead ? ["GET", "HEAD"] : [method]);
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

export function inputAt(sandbox: SandboxState, method: string, path: string) {
  return routeOf(sandbox, path)?.methods.get(method)?.input;
}
