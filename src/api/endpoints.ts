import { SandboxError } from "../rules/errors.js";
import { isSuccess, type Outcome, outcomes, type PathId, successOutcome } from "../rules/outcomes.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import { type Endpoint, type ReleasedEndpoint, successPathOf } from "../sandbox/endpoint.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { me } from "./endpoints/me.js";

/** The endpoints of the API: a new one is a file and its row here. */
export const builtIn: readonly ReleasedEndpoint[] = [me];

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
