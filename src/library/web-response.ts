import { partsOf } from "../api/faults.js";
import { reasonPhrases } from "../api/messages.js";
import { failures } from "../domain/fault.js";
import type { ApiAnswer, Delivery } from "../history/exchange.js";
import { clearTimeout, setTimeout } from "./real-time.js";

/** Converts an answer to a `Response`, with `body` instead of its own if given; an answer to HEAD has none. */
export function toResponse(
  answer: ApiAnswer,
  method: string,
  body: string | ReadableStream<Uint8Array> = answer.body,
): Response {
  const headers: [string, string][] = [];
  for (let i = 0; i < answer.headers.length; i += 2) {
    headers.push([answer.headers[i] as string, answer.headers[i + 1] as string]);
  }
  const { status } = answer;
  const statusText = reasons[status] ?? "";
  return new Response(method === "HEAD" ? null : (body as BodyInit), { status, statusText, headers });
}

/** The reason phrases of HTTP, as Node's server sends them; browsers have no list of them. */
const reasons: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  422: "Unprocessable Entity",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/**
 * Delivers an answer to which a fault applies as a `Response`; a connection reset is a network error.
 *
 * Rejects with the reason of the request's signal when that is aborted before there is a response.
 */
export async function deliverOverWeb(
  delivery: Delivery,
  answer: ApiAnswer,
  request: Request,
): Promise<Response> {
  const { delayMs, kind, cutAfter, bytesPerSecond } = delivery;
  if (kind === "hang") return waitForAbort(request);
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
        // Through the request: its signal alone would not follow the client's.
        if (pauseMs > 0) await wait(pauseMs, request.signal);
        const part = parts[sent];
        if (part !== undefined) controller.enqueue(part);
        else if (isCut) controller.error(new TypeError("terminated"));
        sent += 1;
        if (!isCut && sent >= parts.length) controller.close();
      },
    },
    // Nothing is sent before it is read: an unread body leaves no timer behind.
    { highWaterMark: 0 },
  );
}

// In a user's own server, `Response.error()` and a body that breaks off end the process; these two avoid it.

function networkError(request: Request): Response {
  if (isInMiddleware(request)) throw new TypeError("A fault of the scenario resets the connection.");
  return Response.error();
}

function closedEarly(answer: ApiAnswer, delivery: Delivery, request: Request): Response {
  const headers = [...answer.headers, "Connection", "close"];
  return toResponse({ ...answer, headers }, request.method, bodyOf(answer, delivery, request, false));
}

/** Resolves after milliseconds of real time; rejects with the reason of the signal when that is aborted before. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const done = () => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** The time that Node's own `fetch` waits for an answer, in milliseconds. */
const longestFetch = 300_000;
/** The same for what may be a client of `node:http`, which in msw 2 does not say when it gives up. */
const longestUnknown = 10_000;

/**
 * Never resolves; rejects with the reason of the request's signal when that is aborted.
 *
 * Keeps the process alive meanwhile, as a socket that waits does: the timers of clients, such as that of
 * `AbortSignal.timeout`, do not.
 */
function waitForAbort({ signal, headers }: Request): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // A `fetch` leaves its `Host` to the network.
    const timer = setTimeout(() => {}, headers.has("host") ? longestUnknown : longestFetch);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Whether a request comes from @mswjs/http-middleware rather than from a client of this process.
 *
 * Only the middleware passes on a `Host`, which clients leave to the network, and sends no credentials.
 */
export function isInMiddleware({ credentials, headers }: Request): boolean {
  return credentials === "omit" && headers.has("host");
}
