import { type Received, receivedRequest } from "../../rules/request.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { StoryRequest, StoryResponse } from "../../sandbox/steps.js";
import { bodyParts } from "../faults.js";
import { handle } from "../handle.js";
import { type FlatHeaders, headerPairs } from "../messages.js";

/** Sends a request of a story to the sandbox's API: in the journal, but not in the report, because no client sent it. */
export function sendRequest(
  sandbox: SandboxState,
  { method, path: target, headers, body, keyHash }: StoryRequest,
): StoryResponse {
  const [path = "/", query] = target.split(/\?(.*)/s);
  const received: Received = {
    method,
    path,
    query: query === undefined ? "" : `?${query}`,
    headers: Object.entries(headers).flat(),
    traits: body === undefined || body === "" ? [] : ["body"],
  };
  const request = { ...receivedRequest(received), keyHash, fromStory: true };
  const { response, outcome, fault, delivery } = handle(sandbox, request);
  return { ...sentResponse(response, delivery), outcome, fault };
}

/** A response as sent: its headers by lower-case name, and its body, which may be truncated. */
export function sentResponse(
  { status, headers, body }: ApiResponse,
  { cutAfter }: Partial<Delivery> = {},
): Pick<StoryResponse, "status" | "headers" | "body"> {
  return {
    status,
    headers: status === 0 ? {} : joinedHeaders(headers),
    body: cutAfter === undefined ? body : new TextDecoder().decode(bodyParts(body, { cutAfter }).parts[0]),
  };
}

function joinedHeaders(flat: FlatHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [given, value] of headerPairs(flat)) {
    const name = given.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
