import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { currentSandboxes } from "../library/current-sandbox.js";
import { sandboxOn } from "../library/sandbox-on.js";
import type { Runtime } from "../sandbox/runtime.js";
import { refuse } from "./refusal.js";
import { resetConnection } from "./reset-connection.js";
import { sendWebResponse } from "./send-web-response.js";
import type { HandlerAnswer } from "./user-handlers.js";
import { toWebRequest } from "./web-request.js";

/** What stands beside the API: takes a request to an unknown path, or calls `otherwise` when nobody does. */
export type Beside = (
  runtime: Runtime,
  request: IncomingMessage,
  response: ServerResponse,
  otherwise: () => void,
) => void;

/**
 * Makes the door to handlers of one's own. Inside them, `guard` knows the sandbox by itself.
 *
 * Nothing that a handler does ends the process: a throw is answered with 500 and told to `onHandlerError`, and
 * `HttpResponse.error()` resets the connection, as a network error does.
 */
export function createBeside(
  answer: HandlerAnswer,
  { baseUrl, onHandlerError }: { baseUrl: () => string; onHandlerError: (error: unknown) => void },
): Beside {
  const current = currentSandboxes(() => new AsyncLocalStorage());

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const asked = toWebRequest(request, response, baseUrl());
    if (asked === undefined) return false;
    const answered = (await askThrowing(answer, asked)) ?? (await askAsGet(answer, asked));
    if (answered === undefined || answered.headers.get("x-msw-intention") === "passthrough") return false;
    if (response.destroyed) await answered.body?.cancel();
    else if (answered.type === "error") resetConnection(response);
    else await sendWebResponse(answered, response, request.method !== "HEAD");
    return true;
  };
  return (runtime, request, response, otherwise) => {
    current
      .run(sandboxOn(runtime), () => take(request, response))
      .then(
        (taken) => {
          if (!taken) otherwise();
        },
        (error) => {
          // A handler that fails because its client has gone has done nothing wrong.
          if (response.destroyed) return;
          onHandlerError(error);
          refuse(response, 500);
        },
      );
  };
}

// A handler may throw its response, as msw allows.
async function askThrowing(answer: HandlerAnswer, request: Request): Promise<Response | undefined> {
  try {
    return await answer(request);
  } catch (error) {
    if (error instanceof Response) return error;
    throw error;
  }
}

// HEAD is GET without the body, but `http.get` takes GET alone.
async function askAsGet(answer: HandlerAnswer, request: Request): Promise<Response | undefined> {
  if (request.method !== "HEAD") return undefined;
  return askThrowing(answer, new Request(request.url, { headers: request.headers, signal: request.signal }));
}
