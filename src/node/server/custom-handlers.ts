import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { SandboxError } from "../../domain/errors.js";
import { currentSandboxes } from "../../library/current-sandbox.js";
import type { Sandbox } from "../../library/sandbox.js";
import { sandboxOn } from "../../library/sandbox-on.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { refuse, resetConnection } from "./send-answer.js";
import { sendWebResponse, toWebRequest } from "./web-messages.js";

/** A request handler of msw 2 or 3; only msw itself looks inside. */
export type UserHandler = object;

/** Handlers, or a function that makes them for the sandbox of the server. */
export type UserHandlers =
  | readonly UserHandler[]
  | ((context: { readonly sandbox: Sandbox }) => readonly UserHandler[] | Promise<readonly UserHandler[]>);

/** Answers a request from handlers; `undefined` when none takes it. */
type HandlerAnswer = (request: Request) => Promise<Response | undefined>;

interface Msw {
  readonly getResponse: (
    handlers: readonly UserHandler[],
    request: Request,
    context: { readonly baseUrl: string },
  ) => Promise<Response | undefined>;
}

/** Serves a request to an unknown path from the user's handlers, or calls `fallback` when none takes it. */
export type CustomHandlers = (
  runtime: Runtime,
  request: IncomingMessage,
  response: ServerResponse,
  fallback: () => void,
) => void;

export interface CustomHandlerOptions {
  readonly sandbox: Sandbox;
  readonly baseUrl: () => string;
  /** The file whose msw is used. */
  readonly file: string;
  readonly onHandlerError: (error: unknown) => void;
}

/**
 * Makes the entry point to the user's handlers. Inside them, `guard` knows the sandbox by itself.
 *
 * Nothing that a handler does ends the process: a throw is answered with 500 and passed to `onHandlerError`, and
 * `HttpResponse.error()` resets the connection, as a network error does. Throws `usage` for unusable handlers.
 */
export async function createCustomHandlers(
  given: UserHandlers,
  { sandbox, baseUrl, file, onHandlerError }: CustomHandlerOptions,
): Promise<CustomHandlers> {
  const handlers = await readHandlers(given, sandbox);
  const { getResponse } = loadMsw(file);
  const answer: HandlerAnswer = (request) => getResponse(handlers, request, { baseUrl: baseUrl() });
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
  return (runtime, request, response, fallback) => {
    current
      .run(sandboxOn(runtime), () => take(request, response))
      .then(
        (taken) => {
          if (!taken) fallback();
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

async function readHandlers(given: UserHandlers, sandbox: Sandbox): Promise<readonly UserHandler[]> {
  const handlers: unknown = typeof given === "function" ? await makeHandlers(given, sandbox) : given;
  if (!Array.isArray(handlers)) {
    throw unusable("they are not a list of msw request handlers.");
  }
  for (const [index, handler] of handlers.entries()) refuseNonHandler(handler, index + 1);
  return handlers;
}

async function makeHandlers(
  given: (context: { sandbox: Sandbox }) => unknown,
  sandbox: Sandbox,
): Promise<unknown> {
  try {
    return await given({ sandbox });
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    const refusal = new SandboxError("usage", `Failed to make the handlers: ${message}`);
    throw Object.assign(refusal, { cause: error });
  }
}

// At the start: msw would fail with every request.
function refuseNonHandler(handler: unknown, position: number): void {
  const { run, kind } = (handler ?? {}) as { run?: unknown; kind?: unknown };
  if (typeof run === "function" && kind !== "websocket") return;
  const what = Array.isArray(handler)
    ? "is a list. Spread it: [...handlers]"
    : kind === "websocket"
      ? "takes WebSocket connections, which are not served. Leave it out"
      : "is none. Make it with msw's `http`";
  throw unusable(`number ${position} of them ${what}.`);
}

function loadMsw(from: string): Msw {
  // The user's own msw, which the handlers were made with.
  const require = createRequire(from);
  let file: string;
  try {
    file = require.resolve("msw");
  } catch {
    throw mswMissing(from);
  }
  // Not `import()`, which Jest's default setup does not allow; Node can require msw 3 as well, an ES module.
  return require(file);
}

/** Makes the error for a file that cannot find msw. */
export function mswMissing(file: string): SandboxError {
  return unusable(`msw is not installed where ${file} looks for it. Run \`npm install --save-dev msw\`.`);
}

function unusable(why: string): SandboxError {
  return new SandboxError("usage", `Failed to use the handlers: ${why}`);
}
