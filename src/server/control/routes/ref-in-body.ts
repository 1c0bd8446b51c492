import { SandboxError } from "../../../rules/errors.js";

/** Runs an operation with a ref of the body. An unknown ref is not found in a path, but invalid in a body. */
export function refInBody<Result>(field: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
    const { message, details } = error;
    throw new SandboxError("validation_failed", message, { ...details, fields: { [field]: message } });
  }
}
