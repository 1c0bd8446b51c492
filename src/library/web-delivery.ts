import { bodyParts, headerPairs, reasonPhrases } from "../api/http-messages.js";
import { failures } from "../rules/fault-effects.js";
import type { ApiResponse, Delivery } from "../sandbox/call.js";
import { endTimeout, startTimeout } from "./web-platform.js";

/** The time that Node's own `fetch` waits for a response, in milliseconds. */
const longestFetch = 300_000;
/** The time that a possible client of `node:http` is taken to wait: msw 2 does not show when it gives up. */
const longestUnknown = 10_000;

/** Delivers a response as a fault does: late, broken or not at all. Rejects with the reason of the request's signal if that is aborted before the response. */
export async function deliverOverWeb(
  delivery: Delivery,
  response: ApiResponse,
  request: Request,
): Promise<Response> {
  const { delayMs, kind } = delivery;
  if (kind === "hang") return waitForAbort(request);
  if (delayMs > 0) await pauseUnlessAborted(delayMs, request.signal);
  switch (kind) {
    case "reset":
      // A network error of msw would end the middleware's server.
      if (clientOf(request) === "middleware") {
        throw new TypeError("A fault of the scenario resets the connection.");
      }
      return Response.error();
    case "send":
      return slowOrCutResponse(delivery, response, request);
    default:
      return kind satisfies never;
  }
}

/** Waits until the client gives up. Keeps the process alive, like a waiting socket: clients' timers, such as `AbortSignal.timeout`, do not. */
async function waitForAbort(request: Request): Promise<never> {
  const { signal } = request;
  const longest = clientOf(request) === "fetch" ? longestFetch : longestUnknown;
  await pauseUnlessAborted(longest, signal);
  // A client that waits longer does not keep the process alive.
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Resolves after a time; rejects with the reason of the signal once that is aborted. */
function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }

    const abort = () => {
      endTimeout(timer);
      reject(signal.reason);
    };
    const done = () => {
      signal.removeEventListener("abort", abort);
      resolve();
    };

    const timer = startTimeout(done, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** A response whose body may be slow or break off. */
function slowOrCutResponse(delivery: Delivery, response: ApiResponse, request: Request): Response {
  const { method } = request;
  const isCut = delivery.cutAfter !== undefined;
  const isSlow = delivery.bytesPerSecond !== undefined;
  const hasUsualBody = (!isCut && !isSlow) || method === "HEAD";
  if (hasUsualBody) return toResponse(response, method);
  if (!isCut) return toResponse(response, method, bodyStream(response.body, delivery, request, "complete"));

  // An error would end the middleware's server: the connection ends before the announced length instead.
  if (clientOf(request) === "middleware") {
    const headers = [...response.headers, "Connection", "close"];
    const body = bodyStream(response.body, delivery, request, "complete");
    return toResponse({ ...response, headers }, method, body);
  }
  return toResponse(response, method, bodyStream(response.body, delivery, request, "broken"));
}

/** A body in parts with a pause before each. `end`: after the last part, or `broken` after one more pause, as by a connection that breaks off. */
function bodyStream(
  body: string,
  delivery: Delivery,
  request: Request,
  end: "complete" | "broken",
): ReadableStream<Uint8Array> {
  const { parts, pauseMs } = bodyParts(body, delivery);
  let next = 0;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // References the request, because only then its signal follows the client's.
        if (pauseMs > 0) await pauseUnlessAborted(pauseMs, request.signal);
        const part = parts[next];
        next += 1;
        if (end === "broken" && part === undefined) {
          controller.error(new TypeError("terminated"));
          return;
        }

        // A body without bytes has no part.
        if (part !== undefined) controller.enqueue(part);
        const wasLast = next >= parts.length;
        if (end === "complete" && wasLast) controller.close();
      },
    },
    // Starts only when read, so that an unread body leaves no timer.
    { highWaterMark: 0 },
  );
}

/** The reason phrases of HTTP, as Node's server sends them; browsers have no such list. */
const statusTexts: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/** A web `Response`; `body` in place of its own one. */
export function toResponse(
  response: ApiResponse,
  method: string,
  body: string | ReadableStream<Uint8Array> = response.body,
): Response {
  const { status } = response;
  const statusText = statusTexts[status] ?? "";
  const headers = headerPairs(response.headers);
  // The platform gives any text a media type, also an empty one.
  const isEmpty = method === "HEAD" || response.body === "";
  return new Response(isEmpty ? null : (body as BodyInit), { status, statusText, headers });
}

/** What sends a web `Request`. `node_http`: a client of `node:http` that msw intercepts. */
type WebClient = "fetch" | "node_http" | "middleware";

/** Who sends a request, as far as the request shows it. `middleware`: `@mswjs/http-middleware`, which serves msw's handlers from a user's own server. */
export function clientOf({ headers, credentials }: Request): WebClient {
  // `fetch` sets no `Host`. Of the others, only the middleware omits credentials.
  if (!headers.has("host")) return "fetch";
  return credentials === "omit" ? "middleware" : "node_http";
}
