import type { Endpoint } from "./endpoint.js";
import { me } from "./endpoints/me.js";

/** Every endpoint of the API. */
export const endpoints: readonly Endpoint[] = [me];

/** The endpoints at one path, by method, and what `Allow` says of them. */
export interface Route {
  readonly path: string;
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly allow: string;
}

const routes: ReadonlyMap<string, Route> = new Map(
  [...new Set(endpoints.map(({ path }) => path))].map((path) => [path, routeOf(path)]),
);

/** The route at exactly this path; `undefined` when the API has none (404). */
export function routeAt(path: string): Route | undefined {
  return routes.get(path);
}

function routeOf(path: string): Route {
  const methods = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (endpoint.path !== path) continue;
    methods.set(endpoint.method, endpoint);
    // HEAD answers as GET without the body (RFC 9110).
    if (endpoint.method === "GET") methods.set("HEAD", endpoint);
  }
  return { path, methods, allow: [...methods.keys()].join(", ") };
}
