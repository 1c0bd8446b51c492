import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { SandboxError } from "../../spec/errors.js";
import { mswMissing, type UserHandlers } from "./custom-handlers.js";

/** The user's handlers and their file. */
interface LoadedHandlers {
  readonly handlers: UserHandlers;
  /** Absolute. */
  readonly file: string;
}

/** Loads the handlers of a module: its export `handlers`, or its default export. Throws `usage`. */
export async function loadHandlers(module: string, cwd: string): Promise<LoadedHandlers> {
  const file = resolve(cwd, module);
  const unusable = (why: string) =>
    new SandboxError("usage", `Failed to load the handlers from ${JSON.stringify(module)}: ${why}`);
  if (!existsSync(file)) throw unusable("there is no such file.");
  let loaded: Record<string, unknown>;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    if (/^Cannot find (?:package|module) 'msw[/']/.test(String((error as Error)?.message)))
      throw mswMissing(file);
    throw unusable(describeFailure(error as NodeJS.ErrnoException, file));
  }
  // A CommonJS module arrives as the default export, its own default one level below.
  const inner = loaded.default as Record<string, unknown> | undefined;
  const handlers = [loaded.handlers, loaded.default, inner?.handlers, inner?.default].find(
    (one) => Array.isArray(one) || typeof one === "function",
  );
  if (handlers !== undefined) return { handlers: handlers as UserHandlers, file };
  throw unusable(
    "it exports no list of msw handlers and no function that returns one. Export it as default or as `handlers`.",
  );
}

function describeFailure(error: NodeJS.ErrnoException, file: string): string {
  if (error?.code === "ERR_UNKNOWN_FILE_EXTENSION") {
    return `this Node (${process.version}) does not load such files. Write it as .mjs or .js, or start with a Node that does (22.18 and later load .ts).`;
  }
  const [message] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  const isSyntax = error instanceof SyntaxError && !/^The requested module /.test(error.message);
  if (isSyntax) return `it is not valid JavaScript.\n${withPlace(error)}`;
  const line = parseInt(error?.stack?.split(`${pathToFileURL(file).href}:`)[1] ?? "", 10);
  return `${message}${Number.isNaN(line) ? "" : ` (line ${line})`}`;
}

/** Returns a syntax error as Node prints it: file, line, code and message. */
function withPlace(error: NodeJS.ErrnoException): string {
  try {
    // V8 adds the place of an error in an ES module to its stack only after a `vm` script has rethrown it.
    // The error of a TypeScript file has a code, and its stack has the place.
    if (error.code === undefined) runInNewContext("throw error", { error });
  } catch {}
  const [text = ""] = `${error.stack}`.split(/\n\s+at /, 1);
  return text.trim();
}
