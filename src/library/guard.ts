import { startCall } from "../api/call.js";
import { completeCall } from "../api/handle.js";
import { receivedWeb } from "../api/request-input.js";
import { admit } from "../api/response.js";
import { SandboxError } from "../rules/errors.js";
import type { PathId } from "../rules/outcomes.js";
import { receivedRequest } from "../rules/request.js";
import { hasBody, hasQuery } from "../rules/request-traits.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import { noResponse } from "../sandbox/journal/exchange.js";
import type { KeyEntry } from "../sandbox/keys.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { KeyView, OrganizationView } from "../sandbox/view-shapes.js";
import { viewKey, viewOrganization } from "../sandbox/views.js";
import { currentSandbox, stateOf } from "./create-sandbox.js";
import type { Sandbox } from "./sandbox.js";
import { toResponse } from "./web-request.js";

/** Options of `guard`. */
export interface GuardOptions {
  /** The scope that the endpoint requires. Default: none. */
  readonly scope?: string | null;
  /** Default: the server's sandbox, only inside the handlers of a sandbox server. */
  readonly sandbox?: Sandbox;
}

/** The caller: organization, key and request id. */
export interface Caller {
  readonly organization: OrganizationView;
  readonly key: KeyView;
  readonly requestId: string;
}

/** Either the API's rejection to return, or the admitted caller. */
export type Guarded =
  | { readonly rejection: Response; readonly caller: undefined }
  | { readonly rejection: undefined; readonly caller: Caller };

/** A success of the user's own endpoint, which covers no endpoint of the API. */
const guardedPath: PathId = "200.guarded";

/**
 * Applies the API's checks to a request to your own endpoint: key, organization, live access, scope, limits.
 *
 * An admitted request counts against the key's limits. The journal contains it in either case. Throws `usage` if the
 * sandbox is unknown, or if no key can have the scope.
 *
 * @example
 * http.get("https://any.example/v1/relying-party/attestations", ({ request }) => {
 *   const { rejection, caller } = guard(request, { scope: "attestations:read", sandbox });
 *   return rejection ?? HttpResponse.json({ data: [], organization: caller.organization.name });
 * });
 */
export function guard(request: Request, { scope = null, sandbox }: GuardOptions = {}): Guarded {
  const state = runDue(stateOf(sandbox ?? currentSandbox()));
  const { scopes } = state.assumptions;
  const isKnown = () => [...state.registry.keys.values()].some(({ key }) => key.scopes.includes(scope ?? ""));
  if (scope !== null && !scopes.includes(scope) && !isKnown()) {
    const message = `No key can have the scope ${quote(scope)}. The scopes are ${listed(scopes, "and")}.`;
    throw new SandboxError("usage", message + didYouMean(scope, scopes), { scope });
  }
  const { pathname, search } = new URL(request.url);
  const read = receivedRequest(receivedWeb(request, pathname, search));
  // The endpoint may accept a query and a body.
  const asked = { ...read, traits: read.traits & ~(hasQuery | hasBody) };
  const call = startCall(state, asked, { isGuarded: true });
  const admitted = admit(state, call, scope);
  const isAdmitted = typeof admitted === "string";
  const result = isAdmitted ? { pathId: guardedPath, response: noResponse, code: null } : admitted;
  const { response, id } = completeCall(state, call, result);
  if (!isAdmitted) return { rejection: toResponse(response, request.method), caller: undefined };
  const entry = call.entry as KeyEntry;
  const organization = viewOrganization(entry.owner.organization);
  return { rejection: undefined, caller: { organization, key: viewKey(entry, state), requestId: id } };
}
