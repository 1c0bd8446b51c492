import type { Endpoint, InputSchema } from "./endpoint.js";
import { getAttestation, listAttestations } from "./endpoints/attestations.js";
import {
  cancelConsentRequest,
  createConsentRequest,
  getConsentRequest,
} from "./endpoints/consent-requests.js";
import { me } from "./endpoints/me.js";

/** Every endpoint of the API, those of the preview too. */
export const endpoints: readonly Endpoint[] = [
  me,
  createConsentRequest,
  getConsentRequest,
  cancelConsentRequest,
  listAttestations,
  getAttestation,
];

/** The endpoints that there are, with the preview or without. */
export function endpointsOf(preview: boolean): readonly Endpoint[] {
  return preview ? endpoints : endpoints.filter((endpoint) => endpoint.preview !== true);
}

/** The endpoints at one path, by method, and what `Allow` says of them. */
export interface Route {
  /** Any one segment stands for a name in braces. */
  readonly path: string;
  /** The path taken apart; `undefined` stands for any segment. */
  readonly segments: readonly (string | undefined)[];
  /** The names of the parameters, in order. */
  readonly parameters: readonly string[];
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly allow: string;
  readonly preview: boolean;
}

interface RouteTable {
  readonly exact: ReadonlyMap<string, Route>;
  readonly patterns: readonly Route[];
}

const released = tableOf(endpointsOf(false));
const all = tableOf(endpointsOf(true));

/** The route at exactly this path, with the preview or without; `undefined` when the API has none (404). */
export function routeAt(path: string, preview = false): Route | undefined {
  const { exact, patterns } = preview ? all : released;
  const route = exact.get(path);
  if (route !== undefined || patterns.length === 0) return route;
  const segments = path.split("/");
  return patterns.find((pattern) => fits(pattern, segments));
}

const noParameters: Readonly<Record<string, string>> = Object.freeze({});

/** The values of the parameters in a path of the route, by name. */
export function parametersIn(
  { parameters, segments }: Route,
  path: string,
): Readonly<Record<string, string>> {
  if (parameters.length === 0) return noParameters;
  const given = path.split("/").filter((_segment, position) => segments[position] === undefined);
  return Object.fromEntries(parameters.map((name, position) => [name, given[position] as string]));
}

function tableOf(chosen: readonly Endpoint[]): RouteTable {
  const routes = [...new Set(chosen.map(({ path }) => path))].map((path) => routeOf(path, chosen));
  return {
    exact: new Map(routes.filter(isExact).map((route) => [route.path, route])),
    patterns: routes.filter((route) => !isExact(route)),
  };
}

function isExact({ parameters }: Route): boolean {
  return parameters.length === 0;
}

function fits({ segments }: Route, given: readonly string[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, position) =>
      segment === undefined ? given[position] !== "" : segment === given[position],
    )
  );
}

function routeOf(path: string, chosen: readonly Endpoint[]): Route {
  const methods = new Map<string, Endpoint>();
  const here = chosen.filter((endpoint) => endpoint.path === path);
  for (const endpoint of here) {
    methods.set(endpoint.method, endpoint);
    // HEAD answers as GET without the body (RFC 9110).
    if (endpoint.method === "GET") methods.set("HEAD", endpoint);
  }
  const segments = path.split("/").map((segment) => (segment.startsWith("{") ? undefined : segment));
  return {
    path,
    segments,
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
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
