// Shapes describe values as plain data: checks, messages, JSON Schema and types come from them (docs/decisions/0011).

/** The path of a field: names in mappings and positions in lists. */
export type FieldPath = readonly (string | number)[];

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

export type Shape<Value = unknown> = Kind & Traits<Value>;

type Kind = TextKind | NumberKind | PlainKind | ChoiceKind | ListKind | MappingKind | RecordKind | EitherKind;

export interface Traits<Value> {
  readonly title?: string;
  readonly description?: string;
  /** Whether only snapshots write it: editors do not suggest it. */
  readonly isOfSnapshots?: boolean;
  readonly isNullable?: boolean;
  /** Whether its names, and those of its parts, are already spelled as in JSON. */
  readonly isAsSpelled?: boolean;
  /** Never set: only carries the type. */
  readonly Value?: Value;
}

interface PlainKind {
  readonly kind: "boolean" | "null" | "anything";
}

export interface TextKind extends Range {
  readonly kind: "text";
  /** A format of JSON Schema; not checked. */
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly isAllowed?: (text: string) => boolean;
  /** For example, `a time or a duration` in `expires must be a time or a duration, not "soon"`. */
  readonly noun?: string;
  readonly example?: string;
  /** The code of an invalid text. Default: `bad_format`, or `out_of_range` for a text without `noun`. */
  readonly code?: ShapeCode;
  /** `others` has the other names of a record. */
  readonly hint?: (text: string, others?: Readonly<Record<string, unknown>>) => string | undefined;
}

interface NumberKind extends Range {
  readonly kind: "number";
  readonly isWhole: boolean;
}

export interface ChoiceKind {
  readonly kind: "choice";
  readonly choices: readonly (string | number | boolean)[];
  readonly code: ShapeCode;
  /** Whether it will always be this one choice. */
  readonly isConstant?: boolean;
  /** Whether another version may have more choices. */
  readonly isGrowing?: boolean;
  /** Other texts that it may be. */
  readonly besides?: RegExp;
  readonly hint?: (value: unknown) => string | undefined;
}

export interface ListKind extends Range {
  readonly kind: "list";
  readonly item: Shape;
}

export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
  /** Whether it may have other, unchecked fields. */
  readonly isOpen?: boolean;
  readonly needs?: readonly string[];
  /** Whether a needed field that is `false` counts as missing. */
  readonly isOffByFalse?: boolean;
}

export interface RecordKind {
  readonly kind: "record";
  /** Default: any name. */
  readonly name?: TextKind;
  readonly member: Shape;
}

interface EitherKind {
  readonly kind: "either";
  readonly options: readonly Shape[];
}

/** The minimum and maximum of a number, or of the length of a text or list. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

export type Fields = Readonly<Record<string, MappingField>>;
export type MappingField = Shape | Optional;
export interface Optional<Of extends Shape = Shape> {
  readonly optional: Of;
}

export type ValueOf<Of> = Of extends { readonly Value?: infer Value } ? Value : never;

type OptionalNames<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends Optional ? Name : never;
}[keyof Of];

// Each maps the names of `Of` directly, so that the fields keep their doc comments.
type RequiredFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]: ValueOf<Of[Name]>;
};
type OptionalFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]?: (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never) | undefined;
};
// Makes editors show the members of an inferred type instead of its derivation.
type Shown<Value> = Value extends infer Members ? { [Name in keyof Members]: Members[Name] } : never;
type ValuesOf<Of extends Fields> = Shown<
  RequiredFields<Of, Exclude<keyof Of, OptionalNames<Of>>> & OptionalFields<Of, OptionalNames<Of>>
>;

// Constructors by kind. Each call creates a new shape, which can have its own description.

type Without<Of, Names extends keyof Of> = Omit<Of, "kind" | Names>;

export const text = (of: Without<TextKind, never> = {}): TextKind & Traits<string> => ({
  ...of,
  kind: "text",
});
export const instant = (): TextKind & Traits<string> => text({ format: "date-time" });
export const uuid = (): TextKind & Traits<string> =>
  text({
    format: "uuid",
    isAllowed: (id) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(id),
  });
export const number = (of: Without<NumberKind, "isWhole"> = {}): Shape<number> => ({
  ...of,
  kind: "number",
  isWhole: false,
});
export const count = (of: Without<NumberKind, "isWhole"> = {}): Shape<number> =>
  ({ ...number({ min: 0, ...of }), isWhole: true }) as Shape<number>;
export const flag = (): Shape<boolean> => ({ kind: "boolean" });
export const anything = (): Shape => ({ kind: "anything" });
export const choice = <const Choice extends string | number>(
  choices: readonly Choice[],
  code: ShapeCode = "bad_choice",
  hint?: ChoiceKind["hint"],
): Shape<Choice> => ({ kind: "choice", choices, code, ...(hint && { hint }) });
export const growingChoice = <const Choice extends string>(choices: readonly Choice[]): Shape<Choice> =>
  ({ ...choice(choices), isGrowing: true }) as Shape<Choice>;
export const always = <const Value extends string | boolean>(value: Value): Shape<Value> => ({
  kind: "choice",
  choices: [value],
  code: "bad_choice",
  isConstant: true,
});
export const list = <Item>(
  item: Shape<Item>,
  of: Without<ListKind, "item"> = {},
): Shape<readonly Item[]> => ({ ...of, kind: "list", item });
export const mapping = <Of extends Fields>(fields: Of): MappingKind<Of> & Traits<ValuesOf<Of>> => ({
  kind: "mapping",
  fields,
});
export const needing = <Of extends MappingKind>(
  needs: readonly (keyof Of["fields"] & string)[],
  of: Of,
  isOffByFalse = false,
): Of => ({ ...of, needs, isOffByFalse });
export const openMapping = <Of extends Fields>(fields: Of) => ({ ...mapping(fields), isOpen: true });
export const record = <Member>(
  member: Shape<Member>,
  name?: TextKind,
): Shape<Readonly<Record<string, Member>>> => ({ kind: "record", member, ...(name && { name }) });
export const either = <const Options extends readonly Shape[]>(
  ...options: Options
): Shape<ValueOf<Options[number]>> => ({ kind: "either", options });
export const orNull = <Value>(shape: Shape<Value>): Shape<Value | null> => ({
  kind: "either",
  options: [shape, { kind: "null" }],
});
/** Like `orNull`, but one kind in JSON Schema, which results in a simpler type in other languages. */
export const nullable = <Value>(shape: Shape<Value>): Shape<Value | null> => ({ ...shape, isNullable: true });
export const optional = <Of extends Shape>(shape: Of): Optional<Of> => ({ optional: shape });

export const ofSnapshots = <Of extends Shape>(shape: Of): Optional<Of> => ({
  optional: { ...shape, isOfSnapshots: true },
});

export const described = <Of extends Shape>(shape: Of, description: string): Of => ({
  ...shape,
  description,
});

export function shapeOf(field: MappingField): Shape {
  return "optional" in field ? field.optional : field;
}

/** The fields of a mapping of this shape; if the shape has several kinds, of its mappings. */
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

/** A field of a mapping by its name. */
export interface NamedShape {
  readonly name: string;
  readonly shape: Shape;
}

/** The same as a list; empty for a shape without fields. */
export function namedFieldsOf(shape: Shape): NamedShape[] {
  const fields = Object.entries(fieldsOf(shape) ?? {});
  return fields.map(([name, field]) => ({ name, shape: shapeOf(field) }));
}

/** A shape with its direct parts mapped and its fields renamed; the same shape if nothing changes. */
export function mapFields(
  shape: Shape,
  change: (inner: Shape) => Shape,
  rename: (name: string) => string,
): Shape {
  if (shape.kind === "list") {
    const item = change(shape.item);
    return item === shape.item ? shape : { ...shape, item };
  }
  if (shape.kind === "record") {
    const member = change(shape.member);
    return member === shape.member ? shape : { ...shape, member };
  }
  if (shape.kind === "either") {
    const options = shape.options.map(change);
    const isSame = options.every((option, index) => option === shape.options[index]);
    return isSame ? shape : { ...shape, options };
  }
  if (shape.kind !== "mapping") return shape;

  let isSame = true;
  const fields: Record<string, MappingField> = {};
  for (const [name, field] of Object.entries(shape.fields)) {
    const newName = rename(name);
    const inner = change(shapeOf(field));
    if (newName !== name || inner !== shapeOf(field)) isSame = false;
    fields[newName] = "optional" in field ? optional(inner) : inner;
  }
  return isSame ? shape : { ...shape, fields };
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
    return field && shapeOf(field);
  }
  if (shape.kind === "list") return shape.item;
  if (shape.kind === "record") return shape.member;
  return undefined;
}

/** A path as text: `organizations.bank.keys.main.scopes[1]`. Long names are cut: each problem inside shows them. */
export function pathText(path: FieldPath): string {
  let text = "";
  for (const [index, step] of path.entries()) {
    if (typeof step === "number") {
      text += `[${step}]`;
      continue;
    }
    if (index > 0) text += ".";
    text += step.length > longestName ? `${step.slice(0, longestName)}…` : step;
  }
  return text;
}

const longestName = 200;

/** What the language calls a value, also one of another realm: `Object`, `Date`, `URL`. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Whether a value has fields: a `Date` and a `URL` have none. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && /^(?:Object|Module)$/.test(tagOf(value));
}

/** Whether a value is a text, a mapping or whatever this shape has, without its limits. */
export function isOfKind(shape: Shape, value: unknown): boolean {
  const { kind } = shape;
  if (kind === "choice") return (shape.choices as readonly unknown[]).includes(value);
  if (kind === "text") return typeof value === "string";
  if (kind === "null") return value === null;
  if (kind === "list") return Array.isArray(value);
  if (kind !== "mapping" && kind !== "record") return typeof value === kind;
  return isMapping(value);
}

/** Whether a value is within the limits of its shape; of a list or a mapping, its contents are not checked. */
export function isAllowed(shape: Shape, value: unknown): boolean {
  if (shape.kind === "choice") {
    if (typeof value === "string" && shape.besides?.test(value)) return true;
    return (shape.choices as readonly unknown[]).includes(value);
  }

  if (!isOfKind(shape, value)) return false;
  if (shape.kind === "list") return Array.isArray(value) && isWithin(shape, value.length);
  if (shape.kind === "number") {
    const isFine = shape.isWhole ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isFine && isWithin(shape, value as number);
  }
  if (shape.kind !== "text") return true;

  const text = value as string;
  const { min, max, pattern } = shape;
  // In characters, like JSON Schema: an emoji is one.
  if ((min !== undefined || max !== undefined) && !isWithin(shape, [...text].length)) return false;
  if (pattern !== undefined && !pattern.test(text)) return false;
  return shape.isAllowed === undefined || shape.isAllowed(text);
}

function isWithin(range: Range, size: number): boolean {
  if (range.min !== undefined && size < range.min) return false;
  return range.max === undefined || size <= range.max;
}
