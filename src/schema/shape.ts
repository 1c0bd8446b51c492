import type {
  ChoiceKind,
  CommonOptions,
  Fields,
  MappingKind,
  Optional,
  Range,
  Shape,
  ShapeCode,
  TextKind,
} from "./shape-kinds.js";
import type { MappingValue, ValueOf } from "./value-of.js";

// What the files that make shapes also name of them.
export type { Fields, MappingKind, Optional, Range, Shape, TextKind, ValueOf };

// The constructors of shapes, which files import as `s`. Each call creates a new shape, which can have its own description.

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

// Values with parts.

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

/** A mapping that has no effect without one of these fields. With `isFalseMissing`, a field that is `false` has none either. */
export const needing = <Of extends MappingKind>(
  oneOf: readonly (keyof Of["fields"] & string)[],
  shape: Of,
  { isFalseMissing = false } = {},
): Of => ({ ...shape, needs: { oneOf, isFalseMissing } });

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
