import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import { exitCode, exitCodeOf } from "./exit-codes.js";

/** The exit code of an error: our own refusals have theirs, anything else is a defect. */
export function exitCodeOfFailure(error: unknown): number {
  return error instanceof SandboxError ? exitCodeOf[error.code] : exitCode.defect;
}

/** What to print about an error, with a line end. Shows no full key (R46), and a stack only when verbose. */
export function describeFailure(error: unknown, { verbose }: { verbose: boolean }): string {
  if (error instanceof SandboxError) return `${redactKeys(error.message)}\n`;
  const lines = [
    `svc-sandbox failed: ${error instanceof Error ? error.message : String(error)}`,
    verbose
      ? stackOf(error)
      : "This is a defect of svc-sandbox. Please report it, with the command and what it prints with --verbose.",
  ];
  return `${redactKeys(lines.join("\n"))}\n`;
}

function stackOf(error: unknown): string {
  const stacks: string[] = [];
  for (let one = error; one !== undefined && stacks.length < 5; one = (one as Error).cause) {
    if (!(one instanceof Error)) break;
    stacks.push(one.stack ?? String(one));
  }
  return [
    ...stacks,
    "This is a defect of svc-sandbox. Please report it, with the command and the lines above.",
  ].join("\n");
}
