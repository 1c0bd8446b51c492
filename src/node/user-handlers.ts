import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SandboxError } from "../domain/sandbox-error.js";
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
 * `from` is the file whose msw is used. Throws `usage` when there is none, or the handlers are not a list.
 */
export async function answerFromHandlers(
  given: UserHandlers,
  { sandbox, baseUrl, from }: { sandbox: Sandbox; baseUrl: () => string; from: string },
): Promise<HandlerAnswer> {
  const handlers = typeof given === "function" ? await given({ sandbox }) : given;
  if (!Array.isArray(handlers)) {
    throw new SandboxError(
      "usage",
      "Failed to use the handlers: they are not a list of msw request handlers.",
    );
  }
  const { getResponse } = await loadMsw(from);
  return (request) => getResponse(handlers, request, { baseUrl: baseUrl() });
}

/** Loads the handlers of a module: its default export, or the one named `handlers`. Throws `usage`. */
export async function loadHandlersModule(
  module: string,
  cwd: string,
): Promise<{ handlers: UserHandlers; file: string }> {
  const file = resolve(cwd, module);
  const loaded = await importModule(file, module);
  const handlers = pickHandlers(loaded);
  if (handlers === undefined) {
    throw new SandboxError(
      "usage",
      `Failed to use the handlers in ${JSON.stringify(module)}: it exports no list of msw handlers, nor a function that makes one. Export it as default or as \`handlers\`.`,
    );
  }
  return { handlers, file };
}

function pickHandlers(loaded: Record<string, unknown>): UserHandlers | undefined {
  // A CommonJS module arrives as the default export, its own default one level below.
  const inner = loaded.default as Record<string, unknown> | undefined;
  const candidates = [loaded.handlers, loaded.default, inner?.handlers, inner?.default];
  return candidates.find((one) => Array.isArray(one) || typeof one === "function") as
    | UserHandlers
    | undefined;
}

async function importModule(file: string, given: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const { message } = error as Error;
    throw new SandboxError("usage", `Failed to load the handlers from ${JSON.stringify(given)}: ${message}`);
  }
}

async function loadMsw(from: string): Promise<Msw> {
  // msw is the user's own: the one that their handlers were made with.
  let file: string;
  try {
    file = createRequire(from).resolve("msw");
  } catch {
    throw new SandboxError(
      "usage",
      `Failed to use the handlers: msw is not installed where ${from} looks for it. Run \`npm install --save-dev msw\`.`,
    );
  }
  const loaded = await import(pathToFileURL(file).href);
  return (loaded.getResponse === undefined ? loaded.default : loaded) as Msw;
}
