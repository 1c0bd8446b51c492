import type { World } from "../sandbox/world.js";
import { answerWebRequest } from "./answer-web-request.js";

// A signal reaches the requests that follow it only as long as somebody holds those, and who awaits an answer does not.
const waiting = new Set<object>();

/** Answers as `fetch` does: rejects when the request's signal is aborted, and with a `TypeError` for a network error. */
export async function fetchAnswer(
  world: () => World,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  const answer = answerWebRequest(world, request);
  if ("status" in answer) return answer;
  const held = { input, request };
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  if (canBeAborted) waiting.add(held);
  try {
    const response = await answer;
    if (response.type === "error") throw connectionReset();
    return response;
  } finally {
    waiting.delete(held);
  }
}

function connectionReset(): TypeError {
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
  return new TypeError("fetch failed", { cause });
}
