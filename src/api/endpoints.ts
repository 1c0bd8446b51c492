import { SandboxError } from "../rules/errors.js";
import { environments } from "../rules/keys/key-text.js";
import { organizationViewFields } from "../rules/organization.js";
import { canonicalPath, mePath, pathWithoutParameterNames } from "../rules/paths.js";
import type { ApiRoute, Endpoint, ReleasedEndpoint, Routes, TextBody } from "../sandbox/call.js";
import type { RecordAdditions } from "../sandbox/record-additions.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { type Invocation, keyInWords } from "../sandbox/sandbox-state.js";
import { writtenEndpoints } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import * as s from "../schema/shape.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { jsonBody, textBody } from "./http-messages.js";

// The endpoints of the API: `/me`, and those that a scenario announces. Then the routes, which tell the endpoint of a request.

const contextShape = s.mapping({
  data: s.openMapping({
    organization: s.mapping({ id: s.uuid(), name: s.text(), type: organizationViewFields.type }),
    environment: s.described(s.choice(environments), "The environment of the key, which matches its prefix."),
    scopes: s.described(s.list(s.text(), { min: 1 }), "The scope names granted to the key."),
    limits: s.openMapping({
      per_minute: s.described(s.integer(), "Requests allowed per minute for the key."),
      per_day: s.described(s.integer(), "Requests allowed per day for the key."),
    }),
    usage: s.openMapping({
      today: s.described(s.integer({ min: 1 }), "Requests counted today, including the current one."),
    }),
  }),
});

/** The body of a 200 of `GET /v1/relying-party/me`. A service may add members. */
export interface KeyContext extends s.ValueOf<typeof contextShape> {}

/** Who am I: the context of the calling key (section 4.1 of the specification; R1–R8). */
export const me: ReleasedEndpoint = {
  method: "GET",
  path: mePath,
  operationId: "getRelyingPartyContext",
  summary: "Who am I",
  description:
    "Confirms the API key and reports its context. The call counts as one request against the key's limits.",
  responseName: "RelyingPartyContext",
  responseShape: contextShape,
  responseExample: {
    data: {
      organization: {
        id: "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4",
        name: "Harvest Cooperative Bank",
        type: "bank",
      },
      environment: "test",
      scopes: ["attestations:read"],
      limits: { per_minute: 60, per_day: 1000 },
      usage: { today: 1 },
    },
  },
  status: 200,
  isMe: true,
  hasBody: true,
  respond: contextOf,
  example: () => jsonBody(me.responseExample),
};

/** What ends the body after `usage.today`. */
const closingBraces = "}}}";

/**
 * The context of a key. Only `usage.today`, its last member, changes between responses; what is before it is kept with the key. To
 * write it anew takes 6% of a request.
 */
function contextOf(entry: KeyEntry, additions: RecordAdditions): TextBody {
  const { key, owner, usage } = entry;
  const { organization } = owner;
  let { prepared } = entry;
  const isOfTheseRecords = prepared?.key === key && prepared.organization === organization;
  if (prepared === undefined || !isOfTheseRecords || prepared.additions !== additions) {
    const { id, name, type } = organization;
    const whole = JSON.stringify({
      data: {
        organization: { id, name: name + additions.nameEnding, type },
        environment: key.environment,
        scopes: [...key.scopes, ...additions.scopes],
        limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
        usage: { today: 0 },
      },
    });
    const { text, bytes } = textBody(whole.slice(0, -`0${closingBraces}`.length));
    prepared = { key, organization, additions, text, bytes };
    entry.prepared = prepared;
  }

  const { text, bytes } = prepared;
  const end = usage.dayCount + closingBraces;
  return { text: text + end, bytes: bytes + end.length };
}

/** How many endpoints a text of advice names. */
const mostEndpointsNamed = 3;

/** The endpoints that the API has released. */
export const builtIn: readonly ReleasedEndpoint[] = [me];

/** The endpoints of a scenario's sandbox, released ones first. */
export function endpointsIn(scenario: Pick<Scenario, "endpoints">): readonly Endpoint[] {
  if (scenario.endpoints === undefined) return builtIn;

  const endpoints: Endpoint[] = [...builtIn];
  for (const [operationId, written] of writtenEndpoints(scenario)) {
    const { method = "GET", path, scope = null, status = 200, body } = written;
    const success = body === undefined ? textBody("") : jsonBody(body);
    const respond = () => success;
    endpoints.push({
      method,
      path,
      operationId,
      scope,
      status,
      summary: operationId,
      hasBody: body !== undefined,
      respond,
      example: respond,
    });
  }
  return endpoints;
}

/** The endpoint with an operation id, of a sandbox, or of the report of a running one; throws `unknown_ref`. */
export function endpointNamed<Named extends Pick<Endpoint, "operationId">>(
  sandbox: { readonly name: string; readonly endpoints: readonly Named[] },
  operationId = me.operationId,
): Named {
  const endpoint = sandbox.endpoints.find((served) => served.operationId === operationId);
  if (endpoint !== undefined) return endpoint;

  const operationIds = sandbox.endpoints.map((served) => served.operationId);
  const hint = didYouMean(operationId, operationIds) || ` The scenario has ${listed(operationIds, "and")}.`;
  const message = `Unknown endpoint ${quote(operationId)} in ${sandbox.name}.${hint}`;
  throw new SandboxError("unknown_ref", message, { endpoint: operationId });
}

/** A text of advice with values of this sandbox in place of names in braces, such as `{endpoints}`. It names the first endpoints. */
export function fillPlaceholders(
  text: string,
  endpoints: readonly Endpoint[],
  invocation: Pick<Invocation, "certify" | "command" | "isInTest">,
): string {
  const endpointNames = endpoints.slice(0, mostEndpointsNamed).map(({ method, path }) => `${method} ${path}`);
  if (endpoints.length > mostEndpointsNamed) endpointNames.push("another endpoint of the scenario");

  const values: Readonly<Record<string, string>> = {
    certify: invocation.certify,
    command: invocation.command,
    unknown: keyInWords("unknown", invocation),
    malformed: keyInWords("malformed", invocation),
    endpoints: listed(endpointNames, "or"),
  };
  return text.replace(
    /\{(certify|command|endpoints|unknown|malformed)\}/g,
    (placeholder, name) => values[name] ?? placeholder,
  );
}

/** The route at this path; `undefined` if there is none (404). */
export function routeAt({ exact, patterns }: Routes, path: string): ApiRoute | undefined {
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

/** The routes of endpoints: a sandbox makes them once, at its start. */
export function routesOf(endpoints: readonly Endpoint[]): Routes {
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
  // The key of a route has `a` for a fixed segment and `b` for a parameter: `aab` for `/v1/{id}`, whose first segment is empty.
  const sortKey = ({ segments }: ApiRoute) => segments.map((one) => (isParameter(one) ? "b" : "a")).join("");
  patterns.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  return { exact, patterns };
}

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

/** Whether a path with these segments is one of a route. */
function matches(route: ApiRoute, segments: readonly string[]): boolean {
  if (route.segments.length !== segments.length) return false;
  for (const [index, wanted] of route.segments.entries()) {
    const segment = segments[index] ?? "";
    // Clients resolve `.` and `..`: neither is the value of a parameter.
    const isMatch = isParameter(wanted) ? !["", ".", ".."].includes(segment) : segment === wanted;
    if (!isMatch) return false;
  }
  return true;
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}
