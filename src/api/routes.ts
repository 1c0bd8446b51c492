import type { Endpoint, InputSchema } from "./endpoint.js";
import { me } from "./endpoints/me.js";
import { previewEndpoints } from "./endpoints/preview.js";

/** The endpoints that there are, with the preview or without. */
export function endpointsOf(preview: boolean): readonly Endpoint[] {
  return preview ? [me, ...previewEndpoints()] : [me];
}

/** The endpoints at one path, by method, and what `Allow` says of them. */
export interface Route {
  /** Any one segment stands for a name in braces. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly isPattern: boolean;
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly allow: string;
  readonly preview: boolean;
}

const released = routesOf(endpointsOf(false));
let all: typeof released | undefined;

// Made for the first world with the preview: few have it.
function withPreview() {
  all ??= routesOf(endpointsOf(true));
  return all;
}

/** The route at exactly this path, with the preview or without; `undefined` when the API has none (404). */
export function routeAt(path: string, preview = false): Route | undefined {
  const { exact, patterns } = preview ? withPreview() : released;
  const route = exact.get(path);
  if (route !== undefined || patterns.length === 0) return route;
  const given = path.split("/");
  return patterns.find(
    ({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, i) => (isParameter(segment) ? given[i] !== "" : segment === given[i])),
  );
}

const noParameters: Readonly<Record<string, string>> = Object.freeze({});

/** The values of the parameters in a path of the route, by name. */
export function parametersIn({ isPattern, segments }: Route, path: string): Readonly<Record<string, string>> {
  if (!isPattern) return noParameters;
  const given = path.split("/");
  const values = segments.map((segment, i) => [segment.slice(1, -1), given[i] as string] as const);
  return Object.fromEntries(values.filter((_, i) => isParameter(segments[i] as string)));
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}

function routesOf(chosen: readonly Endpoint[]) {
  const routes = [...new Set(chosen.map(({ path }) => path))].map((path) => routeOf(path, chosen));
  return {
    exact: new Map(routes.filter(({ isPattern }) => !isPattern).map((route) => [route.path, route])),
    patterns: routes.filter(({ isPattern }) => isPattern),
  };
}

function routeOf(path: string, chosen: readonly Endpoint[]): Route {
  const here = chosen.filter((endpoint) => endpoint.path === path);
  // HEAD answers as GET without the body (RFC 9110).
  const methods = new Map<string, Endpoint>(
    here.flatMap((one) =>
      one.method === "GET"
        ? [
            ["GET", one],
            ["HEAD", one],
          ]
        : [[one.method, one]],
    ),
  );
  const segments = path.split("/");
  return {
    path,
    segments,
    isPattern: segments.some(isParameter),
    methods,
    allow: [...methods.keys()].join(", "),
    preview: here.every(({ preview }) => preview === true),
  };
}

const releasedTakeInput = endpointsOf(false).some(({ input }) => input !== undefined);

/** The input that the endpoint at a path declares; `undefined` when there is none. */
export function inputAt(preview: boolean, method: string, path: string): InputSchema | undefined {
  // Saves requests without the preview a second look at the routes.
  if (!preview && !releasedTakeInput) return undefined;
  return routeAt(path, preview)?.methods.get(method)?.input;
}
