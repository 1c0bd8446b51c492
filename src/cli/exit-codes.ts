import { constants } from "node:os";
import { inspect, parseArgs } from "node:util";
import { fileFailure, isMachineLimit } from "../node/files/write-file.js";
import { SandboxError } from "../rules/errors.js";
import { quoteFile } from "../schema/words.js";

export const exitCode = {
  fine: 0,
  /** What the command checks has a problem, or a server did not stop as it should. */
  failed: 1,
  /** The command line, or what it names, cannot be used. */
  usage: 2,
  /** This program has a defect. */
  defect: 3,
  /** No request reached an endpoint. */
  noRequest: 4,
  /** A threshold was not reached, or a client cannot be judged. */
  threshold: 5,
} as const;

/** Returns the exit code of an error: an expected error is a usage error, anything else a defect. */
export function exitCodeOf(error: unknown): number {
  return error instanceof SandboxError || isMachineLimit(error) ? exitCode.usage : exitCode.defect;
}

/** Returns the exit code of a command that a signal has stopped. `stop`: aborted with the signal, as `stopSignal` of `Io` is. */
export function signalExitCode(stop: AbortSignal): number {
  return 128 + constants.signals[stop.reason as NodeJS.Signals];
}

/** An error of the command line or of what it names: exit code 2. */
export function usageError(message: string): SandboxError {
  return new SandboxError("usage", message);
}

/** A usage error for a file that cannot be written; `cause` is the error of the file system. */
export function unwritable(cause: unknown, what: string, whatToDo = ""): SandboxError {
  const hint = whatToDo === "" ? "" : ` ${whatToDo}`;
  return usageError(`Failed to write ${what}: ${fileFailure(cause)}.${hint}`);
}

/** How to describe an error: as JSON if a program reads it. */
interface FailureForm {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** The form that a command line asks for, also one that cannot be read. */
export function failureForm(argv: readonly string[]): FailureForm {
  const { values } = parseArgs({
    args: [...argv],
    options: { json: { type: "boolean" }, format: { type: "string" }, verbose: { type: "boolean" } },
    strict: false,
  });
  return { verbose: values.verbose === true, json: values.json === true || values.format === "json" };
}

/** Describes an error, with a line end, or as a line of JSON; a defect with its stack only if verbose. */
export function describeFailure(error: unknown, form: FailureForm): string {
  const text = failureText(error, form.verbose ?? false);
  if (!form.json) return text;
  let code: string = isMachineLimit(error) ? "machine" : "defect";
  if (error instanceof SandboxError) code = error.code;
  return `${JSON.stringify({ error: { code, message: text.trimEnd() } })}\n`;
}

function failureText(error: unknown, verbose: boolean): string {
  if (error instanceof SandboxError) return `${error.message}\n`;
  if (isMachineLimit(error)) {
    const { path, message } = error;
    const where = path === undefined ? "" : ` ${quoteFile(path)}`;
    return `svc-sandbox failed${where}: ${fileFailure(error)} (${message}).\n`;
  }

  // Anything else is a defect.
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`svc-sandbox failed: ${message}`];
  // With its stack and its causes.
  if (verbose) lines.push(inspect(error));
  const evidence = verbose ? "the lines above" : "what it prints with --verbose";
  lines.push(`This is a defect of svc-sandbox. Please report it, with the command and ${evidence}.`);
  return `${lines.join("\n")}\n`;
}
