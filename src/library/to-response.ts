import type { ApiAnswer } from "../api/messages.js";

/** The web form of an answer. `body` is sent in the place of its own; an answer to HEAD has none. */
export function toResponse(
  answer: ApiAnswer,
  method: string,
  body: string | ReadableStream<Uint8Array> = answer.body,
): Response {
  const headers: [string, string][] = [];
  for (let i = 0; i < answer.headers.length; i += 2) {
    headers.push([answer.headers[i] as string, answer.headers[i + 1] as string]);
  }
  return new Response(method === "HEAD" ? null : (body as BodyInit), { status: answer.status, headers });
}
