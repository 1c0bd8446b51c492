import type { ApiAnswer, Delivery } from "../sandbox/history/exchange.js";
import type { SendStoryRequest, StoryAnswer } from "../sandbox/steps.js";
import type { World } from "../sandbox/world.js";
import { hasBody, traitsOfHeader, traitsOfQuery } from "../spec/request-traits.js";
import { partsOf } from "./faults.js";
import { handle } from "./handle.js";
import { bodyOf, noBody } from "./request-body.js";

/**
 * Sends requests of a story or of the control plane directly to the sandbox's API, without a network and without the
 * delays of faults.
 *
 * The journal records these requests. The report does not, because no client sent them.
 */
export function storySender(world: World): (request: Parameters<SendStoryRequest>[0]) => StoryAnswer {
  return ({ method, path: target, headers, body, keyHash }) => {
    const [path = "/", query] = target.split(/\?(.*)/s);
    let traits = traitsOfQuery(query === undefined ? "" : `?${query}`);
    for (const [name, value] of Object.entries(headers)) traits |= traitsOfHeader(name, value);
    if (body !== undefined && body !== "") traits |= hasBody;
    const { answer, pathId, fault, delivery } = handle(world, {
      method,
      path,
      apiKey: headers["x-api-key"],
      keyHash,
      traits,
      fromStory: true,
      content: {
        query: query ?? "",
        contentType: headers["content-type"],
        idempotencyKey: headers["idempotency-key"],
        body: body === undefined ? noBody : bodyOf(new TextEncoder().encode(body)),
      },
    });
    return { ...sentAnswer(answer, delivery), pathId, fault };
  };
}

/** A response as sent: its headers by lower-case name, and its body, which may be truncated. */
export function sentAnswer(
  { status, headers, body }: ApiAnswer,
  delivery: Delivery | undefined,
): Pick<StoryAnswer, "status" | "headers" | "body"> {
  return {
    status,
    headers: status === 0 ? {} : headersOf(headers),
    body: delivery?.cutAfter === undefined ? body : cut(body, delivery.cutAfter),
  };
}

function headersOf(pairs: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < pairs.length; i += 2) {
    const name = (pairs[i] as string).toLowerCase();
    const value = pairs[i + 1] as string;
    // Repeated headers are one list (RFC 9110).
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

function cut(body: string, cutAfter: number): string {
  const { parts } = partsOf(body, { cutAfter, bytesPerSecond: undefined });
  return new TextDecoder().decode(parts[0]);
}
