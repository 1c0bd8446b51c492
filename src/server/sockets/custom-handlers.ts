import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { sandboxOn } from "../../library/create-sandbox.js";
import { currentSandboxes } from "../../library/current-sandbox.js";
import type { Sandbox } from "../../library/sandbox.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { SandboxError } from "../../spec/errors.js";
import { refuse, resetConnection } from "./send-answer.js";
import { sendWebResponse, toWebRequest } from "./web-messages.js";

/** A request handler of msw 2 or 3; only msw uses its members. */
export type UserHandler = object;

/** Handlers, or a function that makes them for the server's sandbox. */
export type UserHandlers =
  | readonly UserHandler[]
  | ((context: { readonly sandbox: Sandbox }) => readonly UserHandler[] | Promise<readonly UserHandler[]>);

interface Msw {
  readonly getResponse: (
    handlers: readonly UserHandler[],
    request: Request,
    context: { readonly baseUrl: string },
  ) => Promise<Response | undefined>;
}

/** Serves a request to an unknown path from the user's handlers, or calls `fallback` if none of them does. */
export type CustomHandlers = (
  runtime: Runtime,
  request: IncomingMessage,
  response: ServerResponse,
  fallback: () => void,
) => void;

export interface HandlerOptions {
  /** The user's msw handlers, for paths that the API does not have. Default: none. */
  readonly handlers?: UserHandlers;
  /** The file whose msw the handlers use. Default: a file in the working directory. */
  readonly handlersFile?: string;
  /** The size limit for request bodies to the handlers, in megabytes; longer ones get 413. Default: 10. */
  readonly maxBody?: number;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
  /** Called with an error of a user's handler; the client got a 500. Default: `onDefect`. */
  readonly onHandlerError?: (error: unknown) => void;
}

/**
 * Makes the entry point to the user's handlers. Inside them, `guard` finds the sandbox automatically.
 *
 * No handler ends the process: an error gets 500 and is passed to `onHandlerError`, and `HttpResponse.error()` resets the
 * connection, like a network error. Throws `usage` for unusable handlers.
 */
export async function createCustomHandlers(
  given: UserHandlers,
  { handlersFile, maxBody = 10, onDefect = () => {}, onHandlerError = onDefect }: HandlerOptions,
  own: Runtime,
  baseUrl: () => string,
): Promise<CustomHandlers> {
  const handlers = await readHandlers(given, sandboxOn(own));
  const { getResponse } = loadMsw(handlersFile ?? join(process.cwd(), "handlers.js"));
  const current = currentSandboxes(() => new AsyncLocalStorage());

  const ask = async (request: Request) => {
    try {
      return await getResponse(handlers, request, { baseUrl: baseUrl() });
    } catch (error) {
      // A handler may throw its response, as msw allows.
      if (error instanceof Response) return error;
      throw error;
    }
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const asked = toWebRequest(request, response, { baseUrl: baseUrl(), maxBody });
    if (asked === undefined) return false;
    let answered = await ask(asked);
    if (answered === undefined && asked.method === "HEAD") {
      // HEAD is GET without the body, but `http.get` handles only GET.
      answered = await ask(new Request(asked.url, { headers: asked.headers, signal: asked.signal }));
    }
    if (answered === undefined || answered.headers.get("x-msw-intention") === "passthrough") {
      return response.writableEnded;
    }
    if (isOver(response)) await answered.body?.cancel();
    else if (answered.type === "error") resetConnection(response);
    else await sendWebResponse(answered, response, request.method !== "HEAD");
    return true;
  };
  return async (runtime, request, response, fallback) => {
    try {
      const taken = await current.run(sandboxOn(runtime), () => take(request, response));
      if (!taken) fallback();
    } catch (error) {
      // The handler is not at fault if its client has gone or has sent too much.
      if (isOver(response)) return;
      try {
        onHandlerError(error);
      } finally {
        refuse(response, 500);
      }
    }
  };
}

// The client has gone, or its body was rejected. A response that waits for earlier ones does not notice that it has gone.
function isOver({ destroyed, writableEnded, req }: ServerResponse): boolean {
  return destroyed || writableEnded || req.socket.destroyed;
}

// Checked at the start: msw would fail on every request.
async function readHandlers(given: UserHandlers, sandbox: Sandbox): Promise<readonly UserHandler[]> {
  const handlers: unknown = typeof given === "function" ? await makeHandlers(given, sandbox) : given;
  if (!Array.isArray(handlers)) throw unusable("they are not a list of msw request handlers.");
  const wrong = handlers.findIndex((one) => typeof one?.run !== "function" || one.kind === "websocket");
  if (wrong === -1) return handlers;
  throw unusable(
    `number ${wrong + 1} is not an msw request handler. Make it with msw's \`http\`, spread lists ([...handlers]), and leave WebSocket handlers out.`,
  );
}

async function makeHandlers(given: Extract<UserHandlers, CallableFunction>, sandbox: Sandbox) {
  try {
    return await given({ sandbox });
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    const refusal = new SandboxError("usage", `Failed to make the handlers: ${message}`);
    throw Object.assign(refusal, { cause: error });
  }
}

function loadMsw(from: string): Msw {
  // The handlers use the user's own msw.
  const require = createRequire(from);
  let file: string;
  try {
    file = require.resolve("msw");
  } catch {
    throw mswMissing(from);
  }
  // Not `import()`, which Jest's default setup does not allow; Node can require msw 3 as well, an ES module.
  const msw: Partial<Msw> = require(file);
  if (msw.getResponse === undefined) {
    throw unusable("they need msw 2.10 or later. Run `npm install --save-dev msw`.");
  }
  return msw as Msw;
}

/** Makes the error for a file that cannot find msw. */
export function mswMissing(file: string): SandboxError {
  return unusable(`msw is not installed where ${file} looks for it. Run \`npm install --save-dev msw\`.`);
}

function unusable(why: string): SandboxError {
  return new SandboxError("usage", `Failed to use the handlers: ${why}`);
}
