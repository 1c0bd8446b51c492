import { redact } from "../../rules/keys/redact.js";
import { mePath } from "../../rules/paths.js";
import type { RawRequest } from "../../rules/request.js";
import type { ApiResponse, Delivery } from "../../sandbox/call.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { defaultKeyRef, keptSecret, secretToSend } from "../../sandbox/secrets.js";
import type { SentRequest, StoryResponse } from "../../sandbox/steps.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { handle } from "../handle.js";
import { bodyParts, type FlatHeaders, headerPairs } from "../http-messages.js";
import { readApiRequest } from "../read-request.js";

/** A request of a story, or of the control plane. */
type StepRequest = Partial<ControlBody<"sending">> & { readonly repeat?: number };

/** A step's request as it is sent, and as results show it: without its key. Throws `unknown_ref` or `secret_not_kept`. */
export function storyRequest(
  sandbox: SandboxState,
  request: StepRequest,
): { readonly received: RawRequest; readonly shown: SentRequest } {
  const { method = "GET", path: pathAndQuery = mePath, repeat: times = 1 } = request;
  const key = request.key ?? defaultKeyRef(sandbox.scenario) ?? "none";
  const secret = key === "none" ? undefined : secretToSend(sandbox, key);
  const content = contentOf(request.body);
  const headers = headersOf(request, content);

  // As the API receives it, with its key in `x-api-key`, which no step sets itself. The path is the text before the first question
  // mark, the query is the rest with its mark.
  const path = pathAndQuery.replace(/\?.*/s, "");
  const query = pathAndQuery.slice(path.length);
  const sentHeaders = [...headers].flat();
  if (secret !== undefined) sentHeaders.push("x-api-key", secret);
  const hasBody = content !== undefined && content.text !== "";
  const received: RawRequest = { method, path, query, headers: sentHeaders, traits: hasBody ? ["body"] : [] };

  // As results show it: with the ref of its key, and without keys in any text.
  const shownHeaders = [...headers].map(([name, value]) => [redact(name), redact(value)] as const);
  const shown: SentRequest = {
    method,
    path: redact(pathAndQuery),
    body: content === undefined ? null : redact(content.text),
    key,
    headers: Object.fromEntries(shownHeaders),
    times,
  };
  return { received, shown };
}

/** The body of a step's request with its media type: a text is sent as text, no matter its content, any other value as JSON. `undefined` without one. */
function contentOf(body: StepRequest["body"]): { readonly text: string; readonly type: string } | undefined {
  if (body === undefined) return undefined;
  if (typeof body === "string") return { text: body, type: "text/plain" };
  return { text: JSON.stringify(body), type: "application/json" };
}

/** The headers of a step's request by their names in lowercase: the type of its body, and its own, which may set another type. */
function headersOf(request: StepRequest, content: ReturnType<typeof contentOf>): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (content !== undefined) headers.set("content-type", content.type);
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

/** Sends a request that is no step, with the key of any ref, also of one of which the sandbox has only the hash. Throws `unknown_ref`. */
export function sendByRef(sandbox: SandboxState, sending: ControlBody<"sending">): StoryResponse {
  const { key: ref } = sending;
  // Only of a key that was created at run time, the sandbox does not have the text.
  const canBeSent = ref === "none" || keptSecret(sandbox, ref) !== undefined;
  if (canBeSent) return sendFromSandbox(sandbox, storyRequest(sandbox, sending).received);

  // The API compares only the hashes of keys. So another key stands in `x-api-key`, with the hash of the key that is meant.
  const { received } = storyRequest(sandbox, { ...sending, key: "unknown" });
  const meantHash = sandbox.registry.key(ref).key.sha256;
  return sendFromSandbox(sandbox, received, meantHash);
}

/**
 * Sends a request that no client sent to the sandbox's API: one of a story, or of the control plane. It is in the journal, but not
 * in the report. `keyHash`: the hash of its key, if it is not that of the text in `x-api-key`.
 */
export function sendFromSandbox(
  sandbox: SandboxState,
  received: RawRequest,
  keyHash?: string,
): StoryResponse {
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
