import type { MappingValue, ValueOf } from "./value-of.js";

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

export type { ValueOf };

/** The description of a value of one kind. Each shape is made by one of the constructors below, such as `text()`. */
export type Shape<Value = unknown> = Kind & CommonOptions<Value>;

type Kind = TextKind | NumberKind | PlainKind | ChoiceKind | ListKind | MappingKind | RecordKind | EitherKind;

/** What a shape of any kind can have. */
export interface CommonOptions<Value> {
  readonly title?: string;
  readonly description?: string;
  /** Whether only snapshots write it: editors do not suggest it. */
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
  /** The code of an invalid text. Default: `bad_format`, or `out_of_range` for a text without `noun` that has a maximum length. */
  readonly code?: ShapeCode;
  /** The texts that an invalid one probably means, the likeliest first: `90` means `90s` or `90m`. */
  readonly meant?: (text: string) => readonly string[];
  /** The kind of thing that the text is the ref of. Absent for a text that is no ref, or the ref of something new. */
  readonly refersTo?: "key" | "organization";
  /** How to mend an invalid text, if nothing shows what it means. For a text that is the name of a member, `record` has all members. */
  readonly hint?: (text: string, record?: Readonly<Record<string, unknown>>) => string | undefined;
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
  /** Whether it will always be this one choice. */
  readonly isConstant?: boolean;
  /** Whether another version may have more choices. */
  readonly isGrowing?: boolean;
  /** The pattern of texts that are allowed besides the choices. */
  readonly alsoMatching?: RegExp;
  /** What to write in place of a value that is no choice. */
  readonly hint?: (value: unknown) => string | undefined;
}

export interface ListKind extends Range {
  readonly kind: "list";
  readonly item: Shape;
}

/** A mapping with these fields. */
export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
  /** Whether it may have other, unchecked fields. */
  readonly isOpen?: boolean;
  /** The mapping has no effect without one of these fields; if `isFalseMissing`, a field that is `false` has none either. Default: it needs none. */
  readonly needs?: { readonly oneOf: readonly string[]; readonly isFalseMissing: boolean };
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

// Constructors by kind, which files import as `s`. Each call creates a new shape, which can have its own description.

export const text = (of: Omit<TextKind, "kind"> = {}): TextKind & CommonOptions<string> => ({
  ...of,
  kind: "text",
});
export const instant = (): TextKind & CommonOptions<string> => text({ format: "date-time" });
export const uuid = (): TextKind & CommonOptions<string> =>
  text({
    format: "uuid",
    accepts: (id) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(id),
  });
export const number = (of: Range = {}): Shape<number> => ({
  ...of,
  kind: "number",
  isWhole: false,
});
/** A whole number, from 0 unless the range has another start. */
export const integer = (of: Range = {}): Shape<number> =>
  ({ ...number({ min: 0, ...of }), isWhole: true }) as Shape<number>; // a number has this member
export const flag = (): Shape<boolean> => ({ kind: "boolean" });
export const anything = (): Shape => ({ kind: "anything" });
export const choice = <const Choice extends string | number>(
  choices: readonly Choice[],
  code: ShapeCode = "bad_choice",
  hint?: ChoiceKind["hint"],
): Shape<Choice> => ({ kind: "choice", choices, code, ...(hint && { hint }) });
/** A choice that may get more choices in another version. */
export const growingChoice = <const Choice extends string>(choices: readonly Choice[]): Shape<Choice> =>
  ({ ...choice(choices), isGrowing: true }) as Shape<Choice>; // a choice has this member
/** A choice of one value, for good. */
export const always = <const Value extends string | boolean>(value: Value): Shape<Value> => ({
  kind: "choice",
  choices: [value],
  code: "bad_choice",
  isConstant: true,
});
export const list = <Item>(item: Shape<Item>, of: Range = {}): Shape<readonly Item[]> => ({
  ...of,
  kind: "list",
  item,
});
export const mapping = <Of extends Fields>(
  fields: Of,
): MappingKind<Of> & CommonOptions<MappingValue<Of>> => ({
  kind: "mapping",
  fields,
});
/** A mapping that has no effect without one of these fields. */
export const needingOneOf = <Of extends MappingKind>(
  oneOf: readonly (keyof Of["fields"] & string)[],
  of: Of,
): Of => ({ ...of, needs: { oneOf, isFalseMissing: false } });
/** A mapping that has no effect without one of these fields that is not `false`. */
export const needingOneOn = <Of extends MappingKind>(
  oneOf: readonly (keyof Of["fields"] & string)[],
  of: Of,
): Of => ({ ...of, needs: { oneOf, isFalseMissing: true } });
/** A mapping that may have other fields besides these. */
export const openMapping = <Of extends Fields>(fields: Of) => ({ ...mapping(fields), isOpen: true });
export const record = <Member>(
  member: Shape<Member>,
  name?: TextKind,
): Shape<Readonly<Record<string, Member>>> => ({ kind: "record", member, ...(name && { name }) });
export const either = <const Options extends readonly Shape[]>(
  ...options: Options
): Shape<ValueOf<Options[number]>> => ({ kind: "either", options });
/** The shape, or null. */
export const orNull = <Value>(shape: Shape<Value>): Shape<Value | null> => ({
  kind: "either",
  options: [shape, { kind: "null" }],
});
export const optional = <Of extends Shape>(shape: Of): Optional<Of> => ({ optional: shape });

/** An optional field that only snapshots write. */
export const snapshotOnly = <Of extends Shape>(shape: Of): Optional<Of> => ({
  optional: { ...shape, isSnapshotOnly: true },
});

export const described = <Of extends Shape>(shape: Of, description: string): Of => ({
  ...shape,
  description,
});
