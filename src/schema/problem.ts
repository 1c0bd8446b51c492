import type { FieldPath } from "./field-path.js";
import type { MappingKind, Shape, ShapeCode, TextKind } from "./shape-kinds.js";

/** More problems help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

/** The members of a mapping or a record, not checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** A part of a value that does not have its shape. */
export type Mistake = MissingField | RefusedValue | WrongName | UnknownField | EmptyMapping;

/** A field that is not optional, and its shape. */
export interface MissingField extends MistakenPart {
  readonly kind: "missing";
}

/** A value of another kind than its shape, or out of its limits. */
export interface RefusedValue extends MistakenPart {
  readonly kind: "value";
}

/** The name of a record's member. */
export interface WrongName extends MistakenPart {
  readonly kind: "name";
  readonly shape: TextKind;
  /** The name. */
  readonly value: string;
}

/** A member that its mapping does not have. */
export interface UnknownField extends MistakenPart {
  readonly kind: "unknown";
  /** The shape of the mapping. */
  readonly shape: MappingKind;
  /** All members of the mapping. */
  readonly members: Members;
}

/** A mapping with none of the fields of which it needs one. */
export interface EmptyMapping extends MistakenPart {
  readonly kind: "empty";
  readonly shape: MappingKind;
  readonly neededFields: readonly string[];
}

interface MistakenPart {
  readonly path: FieldPath;
  readonly shape: Shape;
  readonly value: unknown;
}

/** A mistake in words: at which field, and how to fix it. It quotes what the caller wrote: who shows it redacts it (R46). */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "name" | "value";
}

/** A mistake in the value of a shape, in words. */
export type ShapeProblem = Problem<ShapeCode>;
