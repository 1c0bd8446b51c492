import { fileFailure, isOfMachine } from "../node/files/write-file.js";
import { SandboxError } from "../rules/errors.js";
import { redactKeys } from "../rules/redact.js";
import { quoteFile } from "../rules/schema/words.js";
import { printable } from "../rules/terminal-text.js";

export const exitCode = {
  fine: 0,
  failed: 1,
  usage: 2,
  defect: 3,
  noRequest: 4,
  /** The command or every run passed, but a threshold was not reached. */
  threshold: 5,
} as const;

/** Returns the exit code of an error: an expected error is a usage error, anything else a defect. */
export function exitCodeOf(error: unknown): number {
  return error instanceof SandboxError || isOfMachine(error) ? exitCode.usage : exitCode.defect;
}

export function usageError(message: string): SandboxError {
  return new SandboxError("usage", message);
}

export function unwritable(what: string, whatToDo = ""): (error: unknown) => never {
  return (error) => {
    throw usageError(`Failed to write ${what}: ${fileFailure(error)}.${whatToDo && ` ${whatToDo}`}`);
  };
}

/** Describes an error, with a line end, or as a line of JSON. Shows no full key (R46), and a stack only if verbose. */
export function describeFailure(
  error: unknown,
  { verbose = false, json = false }: { readonly verbose?: boolean; readonly json?: boolean },
): string {
  if (json) {
    const message = describeFailure(error, { verbose }).trimEnd();
    const code = error instanceof SandboxError ? error.code : isOfMachine(error) ? "machine" : "defect";
    return `${JSON.stringify({ error: { code, message } })}\n`;
  }
  if (error instanceof SandboxError) return `${printable(redactKeys(error.message))}\n`;
  if (isOfMachine(error)) {
    const { path, message } = error;
    const where = path === undefined ? "" : ` ${quoteFile(path)}`;
    return `${redactKeys(`svc-sandbox failed${where}: ${fileFailure(error)} (${message})`)}.\n`;
  }
  const lines = [
    `svc-sandbox failed: ${error instanceof Error ? error.message : String(error)}`,
    ...(verbose ? stacksOf(error) : []),
    `This is a defect of svc-sandbox. Please report it, with the command and ${
      verbose ? "the lines above" : "what it prints with --verbose"
    }.`,
  ];
  return `${printable(redactKeys(lines.join("\n")))}\n`;
}

function stacksOf(error: unknown): string[] {
  const stacks: string[] = [];
  for (let cause = error; cause instanceof Error && stacks.length < 5; cause = cause.cause) {
    stacks.push(cause.stack ?? String(cause));
  }
  return stacks;
}
