import { handle } from "../api/handle.js";
import { readApiRequest } from "../rules/read-request.js";
import type { Received } from "../rules/request.js";
import type { RequestTraits } from "../rules/request-traits.js";
import type { ApiResponse } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { clientOf } from "./web-client.js";
import { deliverOverWeb } from "./web-delivery.js";
import { toResponse } from "./web-response.js";

/** Responds to a web `Request`: synchronously, unless the response is late, broken or left out. `base`: the path of the base URL, without a slash at its end. */
export function respondToWebRequest(
  getOrStart: () => SandboxState,
  request: Request,
  base = "",
): Response | Promise<Response> {
  discardBody(request);
  const { pathname, search } = new URL(request.url);
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiRequest = readApiRequest(receivedWeb(request, path, search));

  const exchange = handle(getOrStart(), apiRequest);
  const response = withDate(exchange.response, exchange.date ?? exchange.at);
  if (exchange.delivery === undefined) return toResponse(response, request.method);
  return deliverOverWeb(exchange.delivery, response, request);
}

/** Reads a web `Request`, whose path and query are known. */
function receivedWeb(request: Request, path: string, query: string): Received {
  const { method, body, referrer } = request;
  const headers: string[] = [];
  request.headers.forEach((value, name) => void headers.push(name, value));
  // A service worker sees the referring page instead of the headers that only browsers send.
  const traits: RequestTraits[number][] = referrer?.startsWith("http") ? ["browser header", "from page"] : [];
  // A request from a network has a length; fetch leaves the length to the network.
  if (body !== null && body !== undefined && !request.headers.has("content-length")) traits.push("body");
  return { method, path, query, headers, traits };
}

/** Adds the header `Date` to a response with another date, such as that of `Retry-After`: clients compare them. A network always sends `Date`. */
function withDate(response: ApiResponse, date: number): ApiResponse {
  const hasOtherDate = response.headers.some((text) => text.endsWith(" GMT"));
  if (!hasOtherDate) return response;
  return { ...response, headers: [...response.headers, "Date", new Date(date).toUTCString()] };
}

/** Reads and drops a body, which no endpoint reads: in the middleware, its connection would wait for that forever. */
function discardBody(request: Request): void {
  const { body } = request;
  if (body && clientOf(request) === "middleware") body.pipeTo(new WritableStream()).catch(() => {});
}
