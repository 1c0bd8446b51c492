import { type Delivery, partsOf } from "../api/delivery.js";
import type { ApiAnswer } from "../api/messages.js";
import { isInMiddleware } from "./http-middleware.js";
import { toResponse } from "./to-response.js";
import { untilAborted, wait } from "./wait.js";

/**
 * Delivers an answer that a fault has got hold of as a `Response`.
 *
 * A connection that is reset is a network error (`Response.error()`). Rejects with the reason of the request's signal
 * when that is aborted before there is a response.
 */
export async function deliverOverWeb(
  delivery: Delivery,
  answer: ApiAnswer,
  request: Request,
): Promise<Response> {
  const { delayMs, kind, cutAfter, bytesPerSecond } = delivery;
  if (kind === "hang") return untilAborted(request.signal);
  if (delayMs > 0) await wait(delayMs, request.signal);
  if (kind === "reset") return networkError(request);
  const isWhole = cutAfter === undefined && bytesPerSecond === undefined;
  if (isWhole || request.method === "HEAD") return toResponse(answer, request.method);
  if (cutAfter !== undefined && isInMiddleware(request)) return closedEarly(answer, delivery, request);
  return toResponse(answer, request.method, bodyOf(answer, delivery, request));
}

function bodyOf(
  { body }: ApiAnswer,
  delivery: Delivery,
  request: Request,
  isCut = delivery.cutAfter !== undefined,
): ReadableStream<Uint8Array> {
  const { parts, pauseMs } = partsOf(body, delivery);
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // The request itself is held, because its signal alone would not hear of it when the client's is aborted.
        if (pauseMs > 0) await wait(pauseMs, request.signal);
        const part = parts[sent];
        if (part !== undefined) controller.enqueue(part);
        else if (isCut) controller.error(new TypeError("terminated"));
        sent += 1;
        if (!isCut && sent >= parts.length) controller.close();
      },
    },
    // Nothing is sent before it is asked for: a body that nobody reads leaves no timer behind.
    { highWaterMark: 0 },
  );
}

// In a server of one's own, a response that has no status and a body that breaks off end the process; what the client
// sees of them has to be brought about in another way.

function networkError(request: Request): Response {
  if (isInMiddleware(request)) throw new TypeError("A fault of the scenario resets the connection.");
  return Response.error();
}

function closedEarly(answer: ApiAnswer, delivery: Delivery, request: Request): Response {
  const headers = [...answer.headers, "Connection", "close"];
  return toResponse({ ...answer, headers }, request.method, bodyOf(answer, delivery, request, false));
}
