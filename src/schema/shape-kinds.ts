// Shapes describe values as plain data: checks, messages, JSON Schema and types come from them (docs/decisions/0011).

/** What is wrong with a value, as a code that callers test. */
export type ShapeCode =
  | "unsupported_version"
  | "unknown_field"
  | "missing_field"
  | "wrong_type"
  | "bad_choice"
  | "bad_format"
  | "bad_ref"
  | "bad_time"
  | "out_of_range"
  | "empty_list";

/** The description of a value of one kind. Each shape is made by one of the constructors in `shape.ts`, such as `text()`. */
export type Shape<Value = unknown> = Kind & CommonOptions<Value>;

type Kind = TextKind | NumberKind | PlainKind | ChoiceKind | ListKind | MappingKind | RecordKind | EitherKind;

/** What a shape of any kind can have. */
export interface CommonOptions<Value> {
  readonly title?: string;
  readonly description?: string;
  /** Whether only snapshots write it: neither editors nor hints suggest it. */
  readonly isSnapshotOnly?: boolean;
  /** Never set: it carries the type of the values, for `ValueOf`. */
  readonly Value?: Value;
}

interface PlainKind {
  readonly kind: "boolean" | "null" | "anything";
}

export interface TextKind extends Range {
  readonly kind: "text";
  /** A format of JSON Schema; not checked. */
  readonly format?: string;
  /** JSON Schema has it, too. */
  readonly pattern?: RegExp;
  /** What no pattern can say. JSON Schema does not have it. */
  readonly accepts?: (text: string) => boolean;
  /** For example, `a time or a duration` in `expires must be a time or a duration, not "soon"`. */
  readonly noun?: string;
  /** A value to show in a hint. */
  readonly example?: string;
  /** Whether no message shows its value. */
  readonly isSecret?: true;
  /** The code of an invalid text. Default: `bad_format`. */
  readonly code?: ShapeCode;
  /** How to mend an invalid text: `write 90s or 90m` for `90`. */
  readonly hint?: (text: string) => string | undefined;
}

export interface NumberKind extends Range {
  readonly kind: "number";
  readonly isWhole: boolean;
}

export interface ChoiceKind {
  readonly kind: "choice";
  readonly choices: readonly (string | number | boolean)[];
  /** The code of a value that is no choice. */
  readonly code: ShapeCode;
  /** Whether another version may have more choices. */
  readonly isGrowing?: boolean;
  /** The pattern of texts that are allowed besides the choices. */
  readonly alsoMatching?: RegExp;
  /** How to mend a value that is no choice. */
  readonly hint?: (value: unknown) => string | undefined;
}

interface ListKind extends Range {
  readonly kind: "list";
  readonly item: Shape;
}

/** A mapping with these fields. */
export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
  /** Whether it may have other, unchecked fields. */
  readonly isOpen?: boolean;
  /** The fields of which it needs one. Default: it needs none. */
  readonly needs?: NeededFields;
}

/** A mapping has no effect without one of these fields. */
export interface NeededFields {
  readonly oneOf: readonly string[];
  /** Whether a field that is `false` has no effect either. */
  readonly isFalseMissing: boolean;
}

/** A mapping with any number of members of one shape, such as the keys of an organization by their refs. */
export interface RecordKind {
  readonly kind: "record";
  /** The shape of the names. Default: any name. */
  readonly name?: TextKind;
  readonly member: Shape;
}

/** A value of one of several kinds. */
interface EitherKind {
  readonly kind: "either";
  readonly options: readonly Shape[];
}

/** The minimum and maximum of a number, or of the length of a text or list. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** The fields of a mapping by their names; an optional one is wrapped. */
export type Fields = Readonly<Record<string, MappingField>>;
export type MappingField = Shape | Optional;
export interface Optional<Of extends Shape = Shape> {
  readonly optional: Of;
}
