import type { FieldPath } from "./shape.js";

/** A mistake in a value that somebody wrote: what was found, at which field, and how to fix it. Contains no key. */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "key" | "value";
}
