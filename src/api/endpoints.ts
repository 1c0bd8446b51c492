import { cachedBy } from "../rules/cached-by.js";
import { SandboxError } from "../rules/errors.js";
import { isSuccess, outcomeOf, outcomes } from "../rules/outcomes.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import { type Endpoint, type ReleasedEndpoint, successOutcomeOf } from "../sandbox/endpoint.js";
import type { Counters } from "../sandbox/journal/counts.js";
import { type WrittenEndpoint, writtenEndpoints } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { me } from "./endpoints/me.js";
import { jsonBody, textBody } from "./messages.js";

/** The endpoints of the API: a new one is a file and its row here. */
export const builtIn: readonly ReleasedEndpoint[] = [me];

/** The endpoints of a scenario's sandbox, released ones first: the same list for the same scenario. */
export function endpointsIn({ endpoints }: Pick<Scenario, "endpoints">): readonly Endpoint[] {
  return endpoints === undefined ? builtIn : withAnnounced(endpoints);
}

const withAnnounced = /* @__PURE__ */ cachedBy(
  (endpoints: NonNullable<Scenario["endpoints"]>): readonly Endpoint[] => [
    ...builtIn,
    ...writtenEndpoints({ endpoints }).map(announced),
  ],
);

function announced([operationId, written]: readonly [name: string, written: WrittenEndpoint]): Endpoint {
  const { method = "GET", path, scope = null, status = 200, body } = written;
  const success = body === undefined ? textBody("") : jsonBody(body);
  return { method, path, operationId, scope, status, summary: operationId, respond: () => success };
}

/** Of a sandbox, or of the report of a running one. */
export function endpointNamed<Named extends Pick<Endpoint, "operationId">>(
  sandbox: { readonly name: string; readonly endpoints: readonly Named[] },
  operationId = me.operationId,
): Named {
  const operationIds = sandbox.endpoints.map((one) => one.operationId);
  const endpoint = sandbox.endpoints.find((one) => one.operationId === operationId);
  if (endpoint !== undefined) return endpoint;
  const hint = didYouMean(operationId, operationIds) || ` The scenario has ${listed(operationIds, "and")}.`;
  const message = `Unknown endpoint ${quote(operationId)} in ${sandbox.name}.${hint}`;
  throw new SandboxError("unknown_ref", message, { endpoint: operationId });
}

const maxNamed = 3;

/** What to do in a sandbox: with the first endpoints in place of `{endpoints}`, and the command that runs the client again. */
export function withNames(
  text: string,
  endpoints: readonly Endpoint[],
  { rerun }: Pick<Counters, "rerun">,
): string {
  const first = endpoints.slice(0, maxNamed).map(({ method, path }) => `${method} ${path}`);
  const rest = endpoints.length - first.length;
  const names = { ...rerun, endpoints: listed(rest > 0 ? [...first, `one of ${rest} others`] : first, "or") };
  return text.replace(/\{(certify|command|endpoints)\}/g, (_, name: keyof typeof names) => names[name]);
}

/** The outcomes of these endpoints: the closed list, and after the successes of `/me` those of announced endpoints, which nobody promises yet. */
export function outcomesOf(endpoints: readonly Endpoint[]): readonly ReturnType<typeof outcomeOf>[] {
  const successes = endpoints.flatMap((one) => {
    const outcome = successOutcomeOf(one, undefined);
    return outcome === undefined ? [] : outcomeOf(outcome);
  });
  const rejections = outcomes.filter(({ id }) => !isSuccess(id));
  return [...outcomes.filter(({ id }) => isSuccess(id)), ...successes, ...rejections];
}
