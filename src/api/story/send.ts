import { mePath } from "../../rules/known-paths.js";
import { readApiRequest } from "../../rules/read-request.js";
import { redact } from "../../rules/redact.js";
import type { Received } from "../../rules/request.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/exchange.js";
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
  const { method = "GET", repeat = 1 } = request;
  const key = request.key ?? defaultKeyRef(sandbox.scenario) ?? "none";
  const secret = key === "none" ? undefined : secretToSend(sandbox, key);
  const target = request.path ?? mePath;
  const [path = "/", query] = target.split(/\?(.*)/s);

  // The body with its type: a text is sent as text, no matter its content.
  const headers: Record<string, string> = {};
  let body: string | undefined;
  if (typeof request.body === "string") {
    body = request.body;
    headers["content-type"] = "text/plain";
  } else if (request.body !== undefined) {
    body = JSON.stringify(request.body);
    headers["content-type"] = "application/json";
  }

  // The headers of the step, which may set another type.
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }

  const sentHeaders = { ...headers };
  if (secret !== undefined) sentHeaders["x-api-key"] = secret;
  const received: Received = {
    method,
    path,
    query: query === undefined ? "" : `?${query}`,
    headers: Object.entries(sentHeaders).flat(),
    traits: body === undefined || body === "" ? [] : ["body"],
  };

  const shownHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    shownHeaders[redact(name)] = redact(value);
  }
  const redactedRequest: SentRequest = {
    method,
    path: redact(target),
    body: body === undefined ? null : redact(body),
    key,
    headers: shownHeaders,
    times: repeat,
  };
  return { received, shown: redactedRequest };
}

/** Sends a request that is no step, with the key of any ref, also of one of which the sandbox has only the hash. Throws `unknown_ref`. */
export function sendByRef(sandbox: SandboxState, sending: ControlBody<"sending">): StoryResponse {
  const { key: ref } = sending;
  const canBeSent = ref === "none" || keptSecret(sandbox, ref) !== undefined;
  if (canBeSent) return sendRequest(sandbox, storyRequest(sandbox, sending).received);

  // A key that was created at run time. The API compares only hashes, so its hash goes with a request that has another key.
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
  const headers: Record<string, string> = {};
  for (const [header, value] of headerPairs(flat)) {
    const name = header.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
