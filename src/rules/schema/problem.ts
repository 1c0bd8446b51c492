import type { FieldPath, Shape } from "./shape.js";

export type Members = Readonly<Record<string, unknown>>;

/** A part of a value that does not have its shape. */
export interface Mistake {
  readonly path: FieldPath;
  /** `zeros`: in front of a number; `name`: of a record's member; `unknown`: not in the mapping; `empty`: without a field that it needs. */
  readonly kind: "missing" | "value" | "zeros" | "name" | "unknown" | "empty";
  /** The shape of the part; for an unknown member, the shape of its mapping. */
  readonly shape: Shape;
  readonly value: unknown;
  /** The mapping that has the unknown member, or the record that has the name. */
  readonly holder?: Members;
}

/** What a text has at a path for a value that is no text: `007`, `0x1F`. */
export type Spelling = (path: FieldPath) => string | undefined;

/** A mistake in words: at which field, and how to fix it. Contains no key. */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "key" | "value";
  /** The field that was probably meant. */
  readonly meant?: FieldPath;
}
