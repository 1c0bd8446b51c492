import { partsOf } from "../api/faults.js";
import { reasonPhrases } from "../api/messages.js";
import type { ApiAnswer, Delivery } from "../sandbox/history/exchange.js";
import { failures } from "../spec/fault.js";
import { clearTimeout, setTimeout } from "./real-time.js";

/** Converts a response of the API to a web `Response`, with another `body` if given; a response to HEAD has none. */
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

/** The reason phrases of HTTP, as Node's server sends them; browsers have no such list. */
const reasons: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  422: "Unprocessable Entity",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/**
 * Delivers a response with a fault as a web `Response`; a connection reset is a network error.
 *
 * Rejects with the reason of the request's signal if that is aborted before the response.
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
        // References the request, because only then its signal follows the client's.
        if (pauseMs > 0) await wait(pauseMs, request.signal);
        const part = parts[sent];
        if (part !== undefined) controller.enqueue(part);
        else if (isCut) controller.error(new TypeError("terminated"));
        sent += 1;
        if (!isCut && sent >= parts.length) controller.close();
      },
    },
    // Starts only when read, so that an unread body leaves no timer.
    { highWaterMark: 0 },
  );
}

// In a user's own server, `Response.error()` or a body that breaks off would end the process; these two avoid that.

function networkError(request: Request): Response {
  if (isInMiddleware(request)) throw new TypeError("A fault of the scenario resets the connection.");
  return Response.error();
}

function closedEarly(answer: ApiAnswer, delivery: Delivery, request: Request): Response {
  const headers = [...answer.headers, "Connection", "close"];
  return toResponse({ ...answer, headers }, request.method, bodyOf(answer, delivery, request, false));
}

/** Resolves after milliseconds of real time; rejects with the signal's reason if that is aborted first. */
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

/** The time that Node's own `fetch` waits for a response, in milliseconds. */
const longestFetch = 300_000;
/** The same for a possible client of `node:http`: msw 2 does not show when it gives up. */
const longestUnknown = 10_000;

/**
 * Never resolves; rejects with the reason of the request's signal when that is aborted.
 *
 * Until then it keeps the process alive, like a waiting socket: clients' timers, such as `AbortSignal.timeout`, do not.
 */
function waitForAbort({ signal, headers }: Request): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // `fetch` sets no `Host`.
    const timer = setTimeout(() => {}, headers.has("host") ? longestUnknown : longestFetch);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Whether a request comes from @mswjs/http-middleware instead of a client in this process.
 *
 * Only the middleware forwards a `Host`, which clients do not set, and omits credentials.
 */
function isInMiddleware({ credentials, headers }: Request): boolean {
  return credentials === "omit" && headers.has("host");
}
