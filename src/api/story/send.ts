import { mePath } from "../../rules/known-paths.js";
import { readApiRequest } from "../../rules/read-request.js";
import { redact } from "../../rules/redact.js";
import type { Received } from "../../rules/request.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/call-result.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { defaultKeyRef, keptSecret, secretToSend } from "../../sandbox/secrets.js";
import type { SentRequest, StoryResponse } from "../../sandbox/step-results.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { bodyParts } from "../body-parts.js";
import { handle } from "../handle.js";
import { type FlatHeaders, headerPairs } from "../http-messages.js";

/** A request of a story, or of the control plane. */
type StepRequest = Partial<ControlBody<"sending">> & { readonly repeat?: number };

/** A step's request as it is sent, and as it is shown, without a key. Throws `unknown_ref` or `secret_not_kept`. */
export function storyRequest(
  sandbox: SandboxState,
  request: StepRequest,
): { readonly received: Received; readonly shown: SentRequest } {
  const key = request.key ?? defaultKeyRef(sandbox.scenario) ?? "none";
  const secret = key === "none" ? undefined : secretToSend(sandbox, key);
  const keyless = keylessRequest(request);
  return {
    received: receivedRequest(keyless, secret),
    shown: shownRequest(keyless, key, request.repeat ?? 1),
  };
}

/** A step's request without its key. */
interface KeylessRequest {
  readonly method: string;
  /** The path and its query. */
  readonly target: string;
  /** By their names in lowercase. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | undefined;
}

function keylessRequest(request: StepRequest): KeylessRequest {
  const { method = "GET", path: target = mePath } = request;

  // The body with its type: a text is sent as text, no matter its content.
  const headers = new Map<string, string>();
  let body: string | undefined;
  if (typeof request.body === "string") {
    body = request.body;
    headers.set("content-type", "text/plain");
  } else if (request.body !== undefined) {
    body = JSON.stringify(request.body);
    headers.set("content-type", "application/json");
  }

  // The headers of the step, which may set another type.
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers.set(name.toLowerCase(), value);
  }
  return { method, target, headers, body };
}

/** A request as the API receives it, with its key in `x-api-key`. */
function receivedRequest(keyless: KeylessRequest, secret: string | undefined): Received {
  const { method, target, headers, body } = keyless;
  // The text before the first question mark. The rest is the query with its mark, or nothing.
  const path = target.replace(/\?.*/s, "");
  const query = target.slice(path.length);

  // No step sets `x-api-key` itself.
  const sentHeaders = [...headers].flat();
  if (secret !== undefined) sentHeaders.push("x-api-key", secret);
  return { method, path, query, headers: sentHeaders, traits: body ? ["body"] : [] };
}

/** A request as results show it: with the ref of its key, and without keys in any text. */
function shownRequest(
  { method, target, headers, body }: KeylessRequest,
  key: string,
  times: number,
): SentRequest {
  const shownHeaders = [...headers].map(([name, value]) => [redact(name), redact(value)] as const);
  return {
    method,
    path: redact(target),
    body: body === undefined ? null : redact(body),
    key,
    headers: Object.fromEntries(shownHeaders),
    times,
  };
}

/** Sends a request that is no step, with the key of any ref, also of one of which the sandbox has only the hash. Throws `unknown_ref`. */
export function sendByRef(sandbox: SandboxState, sending: ControlBody<"sending">): StoryResponse {
  const { key: ref } = sending;
  // Only of a key that was created at run time, the sandbox does not have the text.
  const canBeSent = ref === "none" || keptSecret(sandbox, ref) !== undefined;
  if (canBeSent) return sendRequest(sandbox, storyRequest(sandbox, sending).received);

  // The API compares only hashes, so the key's hash goes with a request that has another key.
  const { received } = storyRequest(sandbox, { ...sending, key: "unknown" });
  return sendRequest(sandbox, received, sandbox.registry.key(ref).key.sha256);
}

/** Sends a request of a story to the sandbox's API: in the journal, but not in the report, because no client sent it. */
export function sendRequest(sandbox: SandboxState, received: Received, keyHash?: string): StoryResponse {
  const request = { ...readApiRequest(received), keyHash, fromStory: true };
  const { response, outcome, fault, delivery } = handle(sandbox, request);
  return { ...sentResponse(response, delivery), outcome, fault };
}

/** A response as sent: its headers by lower-case name, and its body, which may be truncated. */
export function sentResponse(
  response: ApiResponse,
  { cutAfter }: Partial<Delivery> = {},
): Pick<StoryResponse, "status" | "headers" | "body"> {
  const { status } = response;
  const headers = status === 0 ? {} : joinedHeaders(response.headers);
  if (cutAfter === undefined) return { status, headers, body: response.body };

  const { parts } = bodyParts(response.body, { cutAfter });
  return { status, headers, body: new TextDecoder().decode(parts[0]) };
}

/** Headers by lower-case name; several of one name are joined (RFC 9110). */
function joinedHeaders(flat: FlatHeaders): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [header, value] of headerPairs(flat)) {
    const name = header.toLowerCase();
    const valueSoFar = headers.get(name);
    headers.set(name, valueSoFar === undefined ? value : `${valueSoFar}, ${value}`);
  }
  return Object.fromEntries(headers);
}
