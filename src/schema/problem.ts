import type { FieldPath } from "./field-path.js";
import type { MappingKind, Shape, TextKind } from "./shape.js";

/** More problems help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

/** The members of a mapping or a record, not checked yet. */
export type Members = Readonly<Record<string, unknown>>;

// A part of a value that does not have its shape:
//
//   missing  a field that is not optional
//   value    a value of another kind than its shape, or out of its limits
//   name     the name of a record's member
//   unknown  a member that its mapping, which has these members, does not have
//   empty    a mapping with none of the fields of which it needs one
export type Mistake = { readonly path: FieldPath; readonly value: unknown } & (
  | { readonly kind: "missing" | "value"; readonly shape: Shape }
  | { readonly kind: "name"; readonly shape: TextKind; readonly value: string }
  | { readonly kind: "unknown"; readonly shape: MappingKind; readonly members: Members }
  | { readonly kind: "empty"; readonly shape: MappingKind; readonly neededFields: readonly string[] }
);

/** A mistake in words: at which field, and how to fix it. It quotes what the caller wrote: who shows it redacts it (R46). */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "name" | "value";
}
