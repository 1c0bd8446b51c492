import { SandboxError } from "../rules/errors.js";
import { isSuccess, type Outcome, outcomes, type PathId, successOutcome } from "../rules/outcomes.js";
import { encodePath } from "../rules/redact.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import { type Endpoint, type ReleasedEndpoint, successPathOf } from "../sandbox/endpoint.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { me } from "./endpoints/me.js";

/** The endpoints of the API: a new one is a file and its row here. */
export const builtIn: readonly ReleasedEndpoint[] = [me];

/** The same list for the same scenario. A document needs its reader, whose libraries few sandboxes need. */
export function endpointsIn(
  scenario: Scenario,
  read?: DocumentReader,
  report?: (mistake: ScenarioMistake) => void,
): readonly Endpoint[] {
  if (scenario.openapi === undefined) return builtIn;
  if (read !== undefined) return read.endpoints(scenario, report);
  throw new SandboxError(
    "usage",
    'The scenario has an OpenAPI document, and no reader of documents was passed. Write createSandbox({ openapi: readOpenApi(), … }), with readOpenApi of "svc-sandbox/openapi".',
    { part: "openapi" },
  );
}

/** Reads the document of a scenario next to the built-in endpoints. Throws a `ScenarioError`. */
export interface DocumentReader {
  /** All endpoints: the same list for the same document. Reports names that the document lacks. */
  readonly endpoints: (
    scenario: Pick<Scenario, "openapi" | "examples" | "faults">,
    report?: (mistake: ScenarioMistake) => void,
  ) => readonly Endpoint[];
  /** The number of its operations, and what a person should know, with the scopes that none of these keys has. */
  readonly notes: (
    scenario: Pick<Scenario, "openapi">,
    scopes: ReadonlySet<string>,
  ) => { readonly operations: number; readonly notes: readonly string[] };
  /** What a certificate shows of the document. */
  readonly info: (scenario: Pick<Scenario, "openapi">) => {
    readonly title: string;
    readonly version: string;
  };
}

/** The endpoint that tools show unless they are given another one: the first released one. */
export function firstEndpoint(sandbox: Pick<SandboxState, "endpoints">): Endpoint {
  return sandbox.endpoints[0] ?? me;
}

export function endpointNamed(sandbox: SandboxState, operationId: string | undefined): Endpoint {
  if (operationId === undefined) return firstEndpoint(sandbox);
  const operationIds = sandbox.endpoints.map((one) => one.operationId);
  const endpoint = sandbox.endpoints.find((one) => one.operationId === operationId);
  if (endpoint !== undefined) return endpoint;
  const hint = didYouMean(operationId, operationIds) || ` The scenario has ${listed(operationIds, "and")}.`;
  const message = `Unknown endpoint ${quote(operationId)} in ${sandbox.name}.${hint}`;
  throw new SandboxError("unknown_ref", message, { endpoint: operationId });
}

const maxNamed = 3;

/** A text about the endpoints of a sandbox, with the first ones in place of `{endpoints}`. */
export function withEndpoints(text: string, endpoints: readonly Endpoint[]): string {
  const first = endpoints.slice(0, maxNamed).map(({ method, path }) => `${method} ${path}`);
  const rest = endpoints.length - first.length;
  return text.replace("{endpoints}", listed(rest > 0 ? [...first, `one of ${rest} others`] : first, "or"));
}

/** The outcomes of these endpoints: the closed list, and after the successes of `/me` those of announced endpoints, which nobody promises yet. */
export function outcomesOf(endpoints: readonly Endpoint[]): readonly (Outcome & { readonly path: PathId })[] {
  const successes = endpoints.flatMap((one) => {
    const path = successPathOf(one, undefined);
    return path === undefined ? [] : successOutcome(path);
  });
  const rejections = outcomes.filter(({ path }) => !isSuccess(path));
  return [...outcomes.filter(({ path }) => isSuccess(path)), ...successes, ...rejections];
}

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
