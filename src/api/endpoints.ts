import { cachedByObject } from "../rules/cached-by.js";
import { SandboxError } from "../rules/errors.js";
import type { Endpoint, ReleasedEndpoint } from "../sandbox/call.js";
import { type Invocation, keyInWords } from "../sandbox/sandbox-state.js";
import { writtenEndpoints } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { me } from "./endpoints/me.js";
import { jsonBody, textBody } from "./http-messages.js";

/** How many endpoints a text of advice names. */
const mostEndpointsNamed = 3;

/** The endpoints that the API has released. */
export const builtIn: readonly ReleasedEndpoint[] = [me];

/** The endpoints of a scenario's sandbox, released ones first: the same list for the same scenario. */
export function endpointsIn({ endpoints }: Pick<Scenario, "endpoints">): readonly Endpoint[] {
  return endpoints === undefined ? builtIn : withAnnounced(endpoints);
}

/** The released endpoints and those that a scenario announces: made once for each scenario. */
const withAnnounced = /* @__PURE__ */ cachedByObject(
  (announced: NonNullable<Scenario["endpoints"]>): readonly Endpoint[] => {
    const endpoints: Endpoint[] = [...builtIn];
    for (const [operationId, written] of writtenEndpoints({ endpoints: announced })) {
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
  },
);

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
