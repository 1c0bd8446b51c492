// Shapes describe values as plain data: checks, messages, JSON Schema and types come from them (docs/decisions/0011). The
// constructors, which files import as `s`, make them: each call a new shape, which can have its own description.

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

/** The description of a value of one kind. */
export type Shape<Value = unknown> = CommonOptions<Value> &
  (
    | { readonly kind: "boolean" | "null" | "anything" }
    | TextKind
    | ({ readonly kind: "number"; readonly isWhole: boolean } & Range)
    | ChoiceKind
    | ({ readonly kind: "list"; readonly item: Shape } & Range)
    | MappingKind
    | RecordKind
    | { readonly kind: "either"; readonly options: readonly Shape[] }
  );

/** What a shape of any kind can have. */
export interface CommonOptions<Value> {
  readonly title?: string;
  readonly description?: string;
  /** Never set: it carries the type of the values, for `ValueOf`. */
  readonly Value?: Value;
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

/** A mapping with these fields. */
export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
  /** Whether it may have other, unchecked fields. */
  readonly isOpen?: boolean;
  /** The fields without one of which it has no effect. */
  readonly needs?: readonly string[];
}

/** A mapping with any number of members of one shape, such as the keys of an organization by their refs. */
export interface RecordKind {
  readonly kind: "record";
  /** The shape of the names. Default: any name. */
  readonly name?: TextKind;
  readonly member: Shape;
}

/** The minimum and maximum of a number, or of the length of a text or list. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** The fields of a mapping by their names; an optional one is wrapped. */
export type Fields = Readonly<Record<string, Shape | Optional>>;
export interface Optional<Of extends Shape = Shape> {
  readonly optional: Of;
}

/** The type of the values of a shape. */
export type ValueOf<Of> = Of extends { readonly Value?: infer Value } ? Value : never;

/** The type of a mapping with these fields: `{ readonly ref: string; readonly name?: string | undefined }`. */
type MappingValue<Of extends Fields> = Flattened<
  { readonly [Name in keyof Of as Of[Name] extends Optional ? never : Name]: ValueOf<Of[Name]> } & {
    readonly [Name in keyof Of as Of[Name] extends Optional ? Name : never]?:
      | (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never)
      | undefined;
  }
>;

/** The same type as one list of members: editors show these, and not how the type is made. */
type Flattened<Value> = Value extends infer Members ? { [Name in keyof Members]: Members[Name] } : never;

// Values without parts.

export const anything = (): Shape => ({ kind: "anything" });

export const flag = (): Shape<boolean> => ({ kind: "boolean" });

export const text = (options: Omit<TextKind, "kind"> = {}): TextKind & CommonOptions<string> => ({
  ...options,
  kind: "text",
});

export const instant = (): TextKind & CommonOptions<string> => text({ format: "date-time" });

export const uuid = (): TextKind & CommonOptions<string> =>
  text({
    format: "uuid",
    accepts: (id) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(id),
  });

export const number = (range: Range = {}): Shape<number> => ({
  ...range,
  kind: "number",
  isWhole: false,
});

/** A whole number, from 0 unless the range has another start. */
export const integer = (range: Range = {}): Shape<number> =>
  ({ ...number({ min: 0, ...range }), isWhole: true }) as Shape<number>; // a number has this member

export const choice = <const Choice extends string | number | boolean>(
  choices: readonly Choice[],
  code: ShapeCode = "bad_choice",
  hint?: ChoiceKind["hint"],
): Shape<Choice> => ({ kind: "choice", choices, code, ...(hint && { hint }) });

/** A choice that may get more choices in another version. */
export const growingChoice = <const Choice extends string>(choices: readonly Choice[]): Shape<Choice> =>
  ({ ...choice(choices), isGrowing: true }) as Shape<Choice>; // a choice has this member

export const list = <Item>(item: Shape<Item>, lengths: Range = {}): Shape<readonly Item[]> => ({
  ...lengths,
  kind: "list",
  item,
});

export const mapping = <Of extends Fields>(
  fields: Of,
): MappingKind<Of> & CommonOptions<MappingValue<Of>> => ({
  kind: "mapping",
  fields,
});

/** A mapping that may have other fields besides these. */
export const openMapping = <Of extends Fields>(fields: Of) => ({ ...mapping(fields), isOpen: true });

export const record = <Member>(
  member: Shape<Member>,
  name?: TextKind,
): Shape<Readonly<Record<string, Member>>> => ({ kind: "record", member, ...(name && { name }) });

// Variations of other shapes.

/** A mapping that has no effect without one of these fields. */
export const needing = <Of extends MappingKind>(
  needs: readonly (keyof Of["fields"] & string)[],
  shape: Of,
): Of => ({ ...shape, needs });

export const either = <const Options extends readonly Shape[]>(
  ...options: Options
): Shape<ValueOf<Options[number]>> => ({ kind: "either", options });

/** The shape, or null. */
export const orNull = <Value>(shape: Shape<Value>): Shape<Value | null> => ({
  kind: "either",
  options: [shape, { kind: "null" }],
});

export const optional = <Of extends Shape>(shape: Of): Optional<Of> => ({ optional: shape });

export const described = <Of extends Shape>(shape: Of, description: string): Of => ({
  ...shape,
  description,
});

export function shapeOfField(field: Fields[string]): Shape {
  return "optional" in field ? field.optional : field;
}

/** The fields of a mapping, or of all mappings among several kinds: of two with one name, the last. `undefined` if the shape has none. */
export function fieldsOf(shape: Shape): Fields | undefined {
  if (shape.kind === "mapping") return shape.fields;
  if (shape.kind !== "either") return undefined;

  let all: Fields | undefined;
  for (const option of shape.options) {
    const fields = fieldsOf(option);
    if (fields !== undefined) all = { ...all, ...fields };
  }
  return all;
}

/** The names of the fields of a shape. */
export function fieldNames(shape: Shape): string[] {
  return Object.keys(fieldsOf(shape) ?? {});
}

/** The shape of the field at a path; `undefined` if the format has none. */
export function shapeAt(root: Shape, path: FieldPath): Shape | undefined {
  let shape: Shape | undefined = root;
  for (const step of path) {
    if (shape === undefined) return undefined;
    shape = shapeInside(shape, step);
  }
  return shape;
}

function shapeInside(shape: Shape, step: string | number): Shape | undefined {
  const fields = fieldsOf(shape);
  if (fields !== undefined) {
    const field = Object.hasOwn(fields, step) ? fields[step] : undefined;
    return field && shapeOfField(field);
  }
  if (shape.kind === "list") return shape.item;
  if (shape.kind === "record") return shape.member;
  return undefined;
}

/** The path of a field: names in mappings and positions in lists. */
export type FieldPath = readonly (string | number)[];

/** A longer name is cut in the text of a path: each problem inside shows it again. */
const longestNameInPath = 200;

/** A path as text: `organizations.bank.keys.main.scopes[1]`. */
export function pathText(path: FieldPath): string {
  let text = "";
  for (const [index, step] of path.entries()) {
    if (typeof step === "number") {
      text += `[${step}]`;
      continue;
    }
    if (index > 0) text += ".";
    text += step.length > longestNameInPath ? `${step.slice(0, longestNameInPath)}…` : step;
  }
  return text;
}
