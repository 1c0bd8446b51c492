import { handle } from "../api/handle.js";
import type { World } from "../sandbox/world.js";
import { deliverOverWeb } from "./deliver-over-web.js";
import { toResponse } from "./to-response.js";

/**
 * Answers a web `Request` to the API; `base` is the path under which the API is mounted, without a slash at its end.
 *
 * At once, unless a fault has got hold of the answer.
 */
export function answerWebRequest(world: World, request: Request, base = ""): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  const { answer, delivery } = handle(world, {
    method: request.method,
    path: pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname,
    apiKey: request.headers.get("x-api-key") ?? undefined,
  });
  return delivery === undefined
    ? toResponse(answer, request.method)
    : deliverOverWeb(delivery, answer, request);
}
