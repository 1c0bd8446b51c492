import type { FieldPath } from "./field-path.js";
import type { Shape, ShapeCode } from "./shape-kinds.js";

/** More problems help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

/** The members of a mapping or a record, not checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** A part of a value that does not have its shape. */
export interface Mistake {
  readonly path: FieldPath;
  /**
   * - `missing`: a field that is not optional
   * - `value`: of another kind, or out of its limits
   * - `zeros`: in front of a number
   * - `name`: the name of a record's member
   * - `unknown`: a member that its mapping does not have
   * - `empty`: a mapping without a field that it needs
   */
  readonly kind: "missing" | "value" | "zeros" | "name" | "unknown" | "empty";
  /** The shape of the part; for an unknown member, the shape of its mapping. */
  readonly shape: Shape;
  readonly value: unknown;
  /** The mapping that has the unknown member, or the record that has the name. */
  readonly holder?: Members;
}

/** How the text of a scenario writes the number or flag at a path: `007`, `0x1F`, `yes`. */
export type SourceTextAt = (path: FieldPath) => string | undefined;

/** A mistake in words: at which field, and how to fix it. It quotes what the caller wrote: who shows it redacts it (R46). */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "name" | "value";
  /** The field that an unknown one probably means. */
  readonly meant?: FieldPath;
}

/** What is wrong with a part, and how to fix it, before the part has its name. */
export interface Wording {
  readonly code: ShapeCode;
  /** What the message calls the part. Default: the name of its field. */
  readonly name?: string;
  /** The message without the name of the part: `is missing`. */
  readonly predicate: string;
  readonly hint: string;
  readonly pointAt?: "name";
  readonly meant?: FieldPath;
}
