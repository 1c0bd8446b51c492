import { handle } from "../api/handle.js";
import type { ApiRequest } from "../api/messages.js";
import { signsOfWebRequest, strayKeysIn } from "../api/read-signs.js";
import { takenAt } from "../api/request-content.js";
import type { World } from "../sandbox/world.js";
import { deliverOverWeb } from "./deliver-over-web.js";
import { lineOf, tellSoon } from "./lines.js";
import { readContent } from "./read-content.js";
import { toResponse } from "./to-response.js";

/**
 * Answers a web `Request` to the API; `base` is the path under which the API is mounted, without a slash at its end.
 *
 * At once, unless a fault has got hold of the answer, or the endpoint takes a body or a query. `world` is asked when the
 * request is there as a whole.
 */
export function answerWebRequest(
  world: () => World,
  request: Request,
  base = "",
): Response | Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method } = request;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiKey = request.headers.get("x-api-key") ?? undefined;
  const signs = signsOfWebRequest(request, search);
  const strays = strayKeysIn(signs, search, () => request.headers.get("authorization"));
  const read = { method, path, apiKey, signs, strays, line: lineOf(request) };
  const atFirst = world();
  const takes = takenAt(atFirst.preview, method, path);
  if (takes === undefined) return answerRead(atFirst, read, request);
  return readContent(request, search, takes.body !== undefined).then((content) =>
    answerRead(world(), { ...read, content }, request),
  );
}

function answerRead(world: World, read: ApiRequest, request: Request): Response | Promise<Response> {
  const { answer, delivery, lesson } = handle(world, read);
  const response =
    delivery === undefined ? toResponse(answer, request.method) : deliverOverWeb(delivery, answer, request);
  if (lesson !== undefined) tellSoon(lesson, response, world);
  return response;
}
