import { createRequire } from "node:module";
import { SandboxError } from "../domain/errors.js";
import type { Sandbox } from "../library/sandbox.js";

/** A request handler of msw 2 or 3; only msw itself looks inside. */
export type UserHandler = object;

/** Handlers of one's own, or a function that makes them for the sandbox they stand beside. */
export type UserHandlers =
  | readonly UserHandler[]
  | ((context: { readonly sandbox: Sandbox }) => readonly UserHandler[] | Promise<readonly UserHandler[]>);

/** Answers a request from handlers, or `undefined` when none takes it. */
export type HandlerAnswer = (request: Request) => Promise<Response | undefined>;

interface Msw {
  readonly getResponse: (
    handlers: readonly UserHandler[],
    request: Request,
    context: { readonly baseUrl: string },
  ) => Promise<Response | undefined>;
}

/**
 * Makes the function that answers from handlers of one's own, through the public `getResponse` of msw.
 *
 * `from` is the file whose msw is used. Throws `usage` when there is none, or what is given are not request handlers.
 */
export async function answerFromHandlers(
  given: UserHandlers,
  { sandbox, baseUrl, from }: { sandbox: Sandbox; baseUrl: () => string; from: string },
): Promise<HandlerAnswer> {
  const handlers = typeof given === "function" ? await make(given, sandbox) : given;
  if (!Array.isArray(handlers)) {
    throw new SandboxError(
      "usage",
      "Failed to use the handlers: they are not a list of msw request handlers.",
    );
  }
  for (const [index, handler] of handlers.entries()) refuseNonHandler(handler, index + 1);
  const { getResponse } = loadMsw(from);
  return (request) => getResponse(handlers, request, { baseUrl: baseUrl() });
}

async function make(given: (context: { sandbox: Sandbox }) => unknown, sandbox: Sandbox): Promise<unknown> {
  try {
    return await given({ sandbox });
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    const refusal = new SandboxError("usage", `Failed to make the handlers: ${message}`);
    throw Object.assign(refusal, { cause: error });
  }
}

// Told at the start: msw would stumble over it with every request.
function refuseNonHandler(handler: unknown, position: number): void {
  const { run, kind } = (handler ?? {}) as { run?: unknown; kind?: unknown };
  if (typeof run === "function" && kind !== "websocket") return;
  const what = Array.isArray(handler)
    ? "is a list. Spread it: [...handlers]"
    : kind === "websocket"
      ? "takes WebSocket connections, which are not served. Leave it out"
      : "is none. Make it with msw's `http`";
  throw new SandboxError("usage", `Failed to use the handlers: number ${position} of them ${what}.`);
}

function loadMsw(from: string): Msw {
  // msw is the user's own: the one that their handlers were made with.
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

/** What to say when a file's own msw is not there. */
export function mswMissing(from: string): SandboxError {
  return new SandboxError(
    "usage",
    `Failed to use the handlers: msw is not installed where ${from} looks for it. Run \`npm install --save-dev msw\`.`,
  );
}
