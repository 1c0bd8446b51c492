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
export type Shape<Value = unknown> = Kind & {
  readonly description?: string;
  /** Whether snapshots write it and people do not: an editor does not offer it. */
  readonly isOfSnapshots?: boolean;
  /** Never there: it holds the type. */
  readonly Value?: Value;
};

type Kind = TextKind | NumberKind | PlainKind | ChoiceKind | ListKind | MappingKind | RecordKind | EitherKind;

export interface PlainKind {
  readonly kind: "boolean" | "null" | "anything";
}

export interface TextKind extends Limits, Wording {
  readonly kind: "text";
  readonly pattern?: RegExp;
  /** A check beyond the pattern. */
  readonly isAllowed?: (text: string) => boolean;
}

export interface NumberKind extends Limits {
  readonly kind: "number";
  readonly isWhole: boolean;
}

export interface ChoiceKind {
  readonly kind: "choice";
  readonly choices: readonly (string | number)[];
  readonly code: ShapeCode;
}

export interface ListKind extends Limits {
  readonly kind: "list";
  readonly item: Shape;
}

export interface MappingKind<Of extends Fields = Fields> {
  readonly kind: "mapping";
  readonly fields: Of;
}

/** A mapping with names of the author's choice. */
export interface RecordKind {
  readonly kind: "record";
  readonly name: TextKind;
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

type ValuesOf<Of extends Fields> = {
  [Name in keyof Of as Of[Name] extends Optional ? never : Name]: ValueOf<Of[Name]>;
} & {
  [Name in keyof Of as Of[Name] extends Optional ? Name : never]?:
    | (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never)
    | undefined;
};

// Shapes by their kinds. Each call makes another one, which can be described by itself.

export const text = (of: Omit<TextKind, "kind"> = {}): TextKind & Shape<string> => ({ ...of, kind: "text" });
export const number = (of: Limits = {}): Shape<number> => ({ ...of, kind: "number", isWhole: false });
export const count = (of: Limits = {}): Shape<number> => ({ least: 0, ...of, kind: "number", isWhole: true });
export const flag = (): Shape<boolean> => ({ kind: "boolean" });
export const anything = (): Shape => ({ kind: "anything" });
export const choice = <const Choice extends string | number>(
  choices: readonly Choice[],
  code: ShapeCode = "bad_choice",
): Shape<Choice> => ({ kind: "choice", choices, code });
export const list = <Item>(item: Shape<Item>, of: Limits = {}): Shape<Item[]> => ({
  ...of,
  kind: "list",
  item,
});
export const mapping = <Of extends Fields>(fields: Of): MappingKind<Of> & Shape<ValuesOf<Of>> => ({
  kind: "mapping",
  fields,
});
export const record = <Member>(name: TextKind, member: Shape<Member>): Shape<Record<string, Member>> => ({
  kind: "record",
  name,
  member,
});
export const either = <const Options extends readonly Shape[]>(
  ...options: Options
): Shape<ValueOf<Options[number]>> => ({ kind: "either", options });
export const orNull = <Value>(shape: Shape<Value>): Shape<Value | null> => ({
  kind: "either",
  options: [shape, { kind: "null" }],
});
export const optional = <Of extends Shape>(shape: Of): Optional<Of> => ({ optional: shape });

/** A field that snapshots write. */
export const ofSnapshots = <Of extends Shape>(shape: Of): Optional<Of> => ({
  optional: { ...shape, isOfSnapshots: true },
});

/** The shape of a field, whether it may be left out or not. */
export function shapeOf(field: Field): Shape {
  return "optional" in field ? field.optional : field;
}

/** The fields that a mapping of this shape has; of several kinds of value, those of the mapping. */
export function fieldsOf(shape: Shape): Fields | undefined {
  if (shape.kind === "either") return shape.options.map(fieldsOf).find((fields) => fields !== undefined);
  return shape.kind === "mapping" ? shape.fields : undefined;
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
