import { SandboxError, type SandboxErrorCode } from "../../domain/errors.js";

/**
 * Does the work; a refusal of what the body says in this field is thrown as `validation_failed` with the field.
 *
 * `asked` are the codes of such refusals.
 */
export function inField<Result>(
  field: string,
  work: () => Result,
  asked: readonly SandboxErrorCode[] = ["validation_failed"],
): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SandboxError) || !asked.includes(error.code)) throw error;
    throw new SandboxError("validation_failed", error.message, {
      ...error.details,
      fields: { [field]: error.message },
    });
  }
}
