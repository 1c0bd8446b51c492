import { SandboxError } from "../domain/errors.js";

/** The command line, or a variable that stands in for a flag, says something that cannot be done. */
export function usageError(message: string): SandboxError {
  return new SandboxError("usage", message);
}
