// The parts of everything that has a form: plain data, from which the checks, their messages, the JSON Schema and the
// types are made (docs/decisions/0011).

/** The names of mappings and the positions in lists on the way to a field. */
export type Path = readonly (string | number)[];

/** The kinds of mistakes. */
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

/** The form of a value; `Value` is the type of those that have it. */
export type Shape<Value = unknown> = Kind & Traits<Value>;

type Kind = TextKind | NumberKind | PlainKind | ChoiceKind | ListKind | MappingKind | RecordKind | EitherKind;

/** What shapes of any kind can have. */
export interface Traits<Value> {
  readonly title?: string;
  readonly description?: string;
  /** Whether snapshots write it and people do not: an editor does not offer it. */
  readonly isOfSnapshots?: boolean;
  /** Whether it may be `null` as well. */
  readonly isNullable?: boolean;
  /** The name that a document with named parts refers to it by. */
  readonly part?: string;
  /** Never there: it holds the type. */
  readonly Value?: Value;
}

export interface PlainKind {
  readonly kind: "boolean" | "null" | "anything";
}

export interface TextKind extends Limits, Wording {
  readonly kind: "text";
  /** As JSON Schema names it; not checked. */
  readonly format?: string;
  readonly pattern?: RegExp;
  /** A check beyond the pattern. */
  readonly isAllowed?: (text: string) => boolean;
}

export interface NumberKind extends Limits {
  readonly kind: "number";
  readonly isWhole: boolean;
  readonly default?: number;
}

export interface ChoiceKind {
  readonly kind: "choice";
  readonly choices: readonly (string | number | boolean)[];
  readonly code: ShapeCode;
  /** The way to mend a value; `undefined` leaves it with the choices. */
  readonly hint?: (value: unknown) => string | undefined;
  /** Whether there will only ever be the one choice. */
  readonly isConstant?: boolean;
  /** Whether another version may have more of them. */
  readonly isGrowing?: boolean;
}

export interface ListKind extends Limits {
  readonly kind: "list";
  readonly item: Shape;
  /** Whether no two items may be the same. */
  readonly isUnique?: boolean;
}

export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
  /** Whether it may have other fields, which are not checked. */
  readonly isOpen?: boolean;
}

/** A mapping with names of the author's choice. */
export interface RecordKind {
  readonly kind: "record";
  /** Default: any name. */
  readonly name?: TextKind;
  readonly member: Shape;
}

/** A value of one of several kinds. */
export interface EitherKind {
  readonly kind: "either";
  readonly options: readonly Shape[];
}

/** The least and the largest number, length of a text or of a list. */
export interface Limits {
  readonly least?: number;
  readonly most?: number;
}

/** The words for a text that is wrong. */
export interface Wording {
  /** As in `expires is a time or a duration, not "soon"`. */
  readonly noun?: string;
  readonly example?: string;
  /** Default: `bad_format`, or what the kind of mistake gives. */
  readonly code?: ShapeCode;
  /** The way to mend a text; `undefined` leaves it with the example. */
  readonly hint?: (text: string) => string | undefined;
}

/** The fields of a mapping, by name. */
export type Fields = Readonly<Record<string, Field>>;
type Field = Shape | Optional;
/** A field that may be left out. */
export interface Optional<Of extends Shape = Shape> {
  readonly optional: Of;
}

/** The type of the values of a shape. */
export type ValueOf<Of> = Of extends { readonly Value?: infer Value } ? Value : never;

type OptionalNames<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends Optional ? Name : never;
}[keyof Of];

// Each maps the names of `Of` itself, so that the fields keep their doc comments.
type RequiredFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]: ValueOf<Of[Name]>;
};
type OptionalFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]?: (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never) | undefined;
};
// An editor shows the members of an inferred type rather than how it was made.
type Shown<Value> = Value extends infer Members ? { [Name in keyof Members]: Members[Name] } : never;
type ValuesOf<Of extends Fields> = Shown<
  RequiredFields<Of, Exclude<keyof Of, OptionalNames<Of>>> & OptionalFields<Of, OptionalNames<Of>>
>;

// Shapes by their kinds. Each call makes another one, which can be described by itself.

type Without<Of, Names extends keyof Of> = Omit<Of, "kind" | Names>;

export const text = (of: Without<TextKind, never> = {}): TextKind & Traits<string> => ({
  ...of,
  kind: "text",
});
export const instant = (): TextKind & Traits<string> => text({ format: "date-time" });
export const uuid = (): TextKind & Traits<string> =>
  text({
    format: "uuid",
    isAllowed: (given) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(given),
  });
export const number = (of: Without<NumberKind, "isWhole"> = {}): Shape<number> => ({
  ...of,
  kind: "number",
  isWhole: false,
});
export const count = (of: Without<NumberKind, "isWhole"> = {}): Shape<number> =>
  ({ ...number({ least: 0, ...of }), isWhole: true }) as Shape<number>;
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
/** The same as `orNull`, but one kind in JSON Schema, which makes a simpler type of it in other languages. */
export const nullable = <Value>(shape: Shape<Value>): Shape<Value | null> => ({ ...shape, isNullable: true });
export const optional = <Of extends Shape>(shape: Of): Optional<Of> => ({ optional: shape });

/** A field that snapshots write. */
export const ofSnapshots = <Of extends Shape>(shape: Of): Optional<Of> => ({
  optional: { ...shape, isOfSnapshots: true },
});

export const described = <Of extends Shape>(shape: Of, description: string): Of => ({
  ...shape,
  description,
});

/** The shape of a mapping, and one of its fields. */
export interface Around {
  readonly shape: Shape;
  readonly name: string;
}

/** The shape of a field, whether it may be left out or not. */
export function shapeOf(field: Field): Shape {
  return "optional" in field ? field.optional : field;
}

/** The fields that a mapping of this shape has; of several kinds of value, those of the mapping. */
export function fieldsOf(shape: Shape): Fields | undefined {
  if (shape.kind === "either") return shape.options.map(fieldsOf).find((fields) => fields !== undefined);
  return shape.kind === "mapping" ? shape.fields : undefined;
}

/** A shape with what is directly in it changed and its fields renamed; the shape itself when that changes nothing. */
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
    return options.every((option, index) => option === shape.options[index]) ? shape : { ...shape, options };
  }
  if (shape.kind !== "mapping") return shape;
  let isSame = true;
  const fields = Object.entries(shape.fields).map(([name, field]): [string, Field] => {
    const inner = change(shapeOf(field));
    isSame &&= inner === shapeOf(field) && rename(name) === name;
    return [rename(name), "optional" in field ? optional(inner) : inner];
  });
  return isSame ? shape : { ...shape, fields: Object.fromEntries(fields) };
}

/** The shape of the field at a path, or `undefined` where the format has none. */
export function shapeAt(root: Shape, path: Path): Shape | undefined {
  let shape: Shape | undefined = root;
  for (const step of path) {
    if (shape === undefined) return undefined;
    const fields: Fields | undefined = fieldsOf(shape);
    if (fields !== undefined) {
      const field: Field | undefined = Object.hasOwn(fields, step) ? fields[step] : undefined;
      shape = field && shapeOf(field);
    } else if (shape.kind === "list") shape = shape.item;
    else shape = shape.kind === "record" ? shape.member : undefined;
  }
  return shape;
}

/**
 * A path as people write it.
 *
 * @example
 * pathText(["organizations", "bank", "keys", "main", "scopes", 1]); // "organizations.bank.keys.main.scopes[1]"
 */
export function pathText(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("");
}

/** The length of a text in characters, as JSON Schema counts: an emoji is one. */
export function lengthOf(text: string): number {
  return [...text].length;
}
