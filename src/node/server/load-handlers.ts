import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SandboxError } from "../../domain/errors.js";
import { mswMissing, type UserHandlers } from "./custom-handlers.js";

/** The user's handlers and the file that they came from. */
export interface LoadedHandlers {
  readonly handlers: UserHandlers;
  /** Absolute. */
  readonly file: string;
}

/** Loads the handlers of a module: its default export, or the one named `handlers`. Throws `usage`. */
export async function loadHandlers(module: string, cwd: string): Promise<LoadedHandlers> {
  const file = resolve(cwd, module);
  if (!existsSync(file)) throw unusable(module, "there is no such file.");
  const loaded = await importModule(file, module);
  const handlers = pickHandlers(loaded);
  if (handlers === undefined) {
    throw unusable(
      module,
      "it exports no list of msw handlers, nor a function that makes one. Export it as default or as `handlers`.",
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
    throw explain(error as NodeJS.ErrnoException, file, given);
  }
}

function explain(error: NodeJS.ErrnoException, file: string, given: string): SandboxError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SyntaxError) return unusable(given, `${syntaxPlace(file) ?? message}`);
  if (/^Cannot find (?:package|module) 'msw[/']/.test(message)) return mswMissing(file);
  if (error?.code === "ERR_UNKNOWN_FILE_EXTENSION") {
    return unusable(
      given,
      `this Node (${process.version}) does not load such files. Write it as .mjs or .js, or start with a Node that does (22.18 and later load .ts).`,
    );
  }
  return unusable(given, `${message.split("\n", 1)[0]}${thrownAt(error, file)}`);
}

// Node prints the place of a syntax error and does not tell it otherwise.
function syntaxPlace(file: string): string | undefined {
  try {
    execFileSync(process.execPath, ["--check", file], { stdio: "pipe", encoding: "utf8" });
    return undefined;
  } catch (error) {
    const [text = ""] = String((error as { stderr?: unknown }).stderr).split(/\n\s+at /, 1);
    return text.includes("SyntaxError") ? `it is not JavaScript.\n${text.trim()}` : undefined;
  }
}

function thrownAt(error: Error, file: string): string {
  const line = new RegExp(`${pathToFileURL(file).href.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}:(\\d+)`).exec(
    error.stack ?? "",
  );
  return line === null ? "" : ` (line ${line[1]})`;
}

function unusable(given: string, why: string): SandboxError {
  return new SandboxError("usage", `Failed to load the handlers from ${JSON.stringify(given)}: ${why}`);
}
