import type { Endpoint, InputSchema } from "./endpoint.js";
import { me } from "./endpoints/me.js";
import {
  cancelConsentRequest,
  createConsentRequest,
  getAttestation,
  getConsentRequest,
  listAttestations,
} from "./endpoints/preview.js";

/** All endpoints, with or without the preview: the announced ones (R49). */
export function endpointsOf(preview: boolean): readonly Endpoint[] {
  if (!preview) return [me];
  return [
    me,
    createConsentRequest,
    getConsentRequest,
    cancelConsentRequest,
    listAttestations,
    getAttestation,
  ];
}

/** The endpoints at a path, by method, and the value of `Allow`. */
export interface ApiRoute {
  /** A name in braces matches any one segment. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly isPattern: boolean;
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly allow: string;
  readonly preview: boolean;
}

const released = routesOf(endpointsOf(false));
let all: typeof released | undefined;

// Created on first use: few sandboxes have the preview.
function withPreview() {
  all ??= routesOf(endpointsOf(true));
  return all;
}

/** The route at exactly this path, with or without the preview; `undefined` if the API has none (404). */
export function routeAt(path: string, preview = false): ApiRoute | undefined {
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

/** The values of the route's parameters in a path, by name. */
export function parametersIn(
  { isPattern, segments }: ApiRoute,
  path: string,
): Readonly<Record<string, string>> {
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

function routeOf(path: string, chosen: readonly Endpoint[]): ApiRoute {
  const here = chosen.filter((endpoint) => endpoint.path === path);
  // HEAD responds like GET, without the body (RFC 9110).
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

/** The declared input of the endpoint at a path; `undefined` for none. */
export function inputAt(preview: boolean, method: string, path: string): InputSchema | undefined {
  // Without the preview, no second lookup of the route is needed.
  if (!preview && !releasedTakeInput) return undefined;
  return routeAt(path, preview)?.methods.get(method)?.input;
}
