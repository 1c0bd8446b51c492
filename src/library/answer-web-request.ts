import { handle } from "../api/handle.js";
import type { ApiAnswer } from "../api/messages.js";
import type { World } from "../sandbox/world.js";

/** Answers a web `Request` to the API; `base` is the path under which the API is mounted, without a slash at its end. */
export function answerWebRequest(world: World, request: Request, base = ""): Response {
  const { pathname } = new URL(request.url);
  const { answer } = handle(world, {
    method: request.method,
    path: pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname,
    apiKey: request.headers.get("x-api-key") ?? undefined,
  });
  return toResponse(answer, request.method);
}

/** The web form of an answer. */
export function toResponse(answer: ApiAnswer, method: string): Response {
  const headers: [string, string][] = [];
  for (let i = 0; i < answer.headers.length; i += 2) {
    headers.push([answer.headers[i] as string, answer.headers[i + 1] as string]);
  }
  return new Response(method === "HEAD" ? null : answer.body, { status: answer.status, headers });
}
