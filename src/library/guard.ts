import { authorizeAndCount, isAdmitted } from "../api/answer.js";
import { beginCall, recordCall, requestIdOf } from "../api/call.js";
import { codeOf, errorReply } from "../api/reply.js";
import { outcomeOf } from "../domain/outcomes.js";
import { redactKeys, redactPath } from "../domain/redact.js";
import { evidenceOf, hasBody, hasQuery, traitsOfWebRequest } from "../domain/request-traits.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { type KeyView, type OrganizationView, viewKey, viewOrganization } from "../sandbox/views.js";
import { currentSandbox, runtimeOf } from "./current-sandbox.js";
import type { Sandbox } from "./sandbox.js";
import { connectionOf, markDelivered } from "./web-request.js";
import { toResponse } from "./web-response.js";

/** Options of `guard`. */
export interface GuardOptions {
  /** The scope that the endpoint needs. Default: none. */
  readonly scope?: string | null;
  /** Default, inside the handlers of a sandbox server: that server's sandbox. */
  readonly sandbox?: Sandbox;
}

/** The caller: organization, key and request id. */
export interface Caller {
  readonly organization: OrganizationView;
  readonly key: KeyView;
  readonly requestId: string;
}

/** Either the API's own refusal to send back, or the caller that was let in. */
export type Guarded =
  | { readonly refusal: Response; readonly caller: undefined }
  | { readonly refusal: undefined; readonly caller: Caller };

/**
 * Passes a request to an endpoint of your own through the API's own checks: key, organization, live access, scope, limits.
 *
 * A request that is let in counts against the key's limits; either way it is in the journal.
 *
 * @example
 * http.get("https://any.example/v1/relying-party/attestations", ({ request }) => {
 *   const { refusal, caller } = guard(request, { scope: "attestations:read", sandbox });
 *   return refusal ?? HttpResponse.json({ data: [], organization: caller.organization.name });
 * });
 */
export function guard(request: Request, { scope = null, sandbox }: GuardOptions = {}): Guarded {
  const world = runtimeOf(sandbox ?? currentSandbox()).world();
  const call = beginCall(world, request.headers.get("x-api-key") ?? undefined);
  const pathId = authorizeAndCount(world, call, scope);
  const { pathname, search } = new URL(request.url);
  const { entry } = call;
  // The endpoint may take a query and a body.
  const traits = traitsOfWebRequest(request, search) & ~(hasQuery | hasBody);
  const delivery = { at: Number.POSITIVE_INFINITY };
  const answer = isAdmitted(pathId) ? undefined : errorReply(world, call, { path: pathId, scope });
  recordCall(world, call, {
    method: redactKeys(request.method),
    path: redactPath(pathname),
    pathId,
    status: outcomeOf(pathId).status,
    code: codeOf(pathId, call.assumptions),
    traits,
    evidence: evidenceOf(traits, search, () => request.headers),
    isMisdirected: false,
    isGuarded: true,
    answer: answer && request.method === "HEAD" ? { ...answer, body: "" } : answer,
    // Handlers of a server do not know the connection.
    connection: sandbox === undefined ? undefined : connectionOf(request),
    delivery,
  });
  markDelivered(delivery, undefined, world);
  if (answer !== undefined) return { refusal: toResponse(answer, request.method), caller: undefined };
  const admitted = entry as KeyEntry;
  const organization = viewOrganization(admitted.holder.organization);
  const caller = { organization, key: viewKey(admitted, world), requestId: requestIdOf(world, call) };
  return { refusal: undefined, caller };
}
