import type { Assumptions } from "../domain/assumptions.js";
import { outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import { codeOf, errorBody } from "./error-body.js";
import type { ApiAnswer, JsonBody } from "./messages.js";

/** The 200 with this body and request id (R1, R7). */
export function successReply(body: JsonBody, requestId: string): ApiAnswer {
  return {
    status: 200,
    headers: [
      "Content-Type",
      "application/json",
      "X-Request-Id",
      requestId,
      "Content-Length",
      String(body.bytes),
    ],
    body: body.text,
  };
}

// A refusal depends on its path and the assumptions alone. Kept for the assumptions asked for last, because a world
// asks for the same ones with every request.
const repliesOf = new WeakMap<Assumptions, ReadonlyMap<PathId, ApiAnswer>>();

/** The refusal of a path. Rows that share a code share their bytes, so that nothing tells them apart (R14). */
export function errorReply(path: PathId, assumptions: Assumptions): ApiAnswer {
  let replies = repliesOf.get(assumptions);
  if (replies === undefined) {
    const refused = outcomes.filter(({ code }) => code !== null);
    replies = new Map(refused.map((row) => [row.path, writeReply(row.path, assumptions)]));
    repliesOf.set(assumptions, replies);
  }
  return replies.get(path) as ApiAnswer;
}

function writeReply(path: PathId, assumptions: Assumptions): ApiAnswer {
  const { status, message } = outcomeOf(path);
  const { text, bytes } = errorBody(String(codeOf(path, assumptions)), String(message));
  return {
    status,
    headers: ["Content-Type", "application/json", "Content-Length", String(bytes)],
    body: text,
  };
}

/** The same answer with one more header. */
export function withHeader(answer: ApiAnswer, name: string, value: string): ApiAnswer {
  return { ...answer, headers: [...answer.headers, name, value] };
}

/** The same answer without its body, for HEAD. */
export function withoutBody(answer: ApiAnswer): ApiAnswer {
  return { ...answer, body: "" };
}
