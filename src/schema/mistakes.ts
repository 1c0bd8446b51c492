import { isMapping } from "../domain/json.js";
import { type Limits, type MappingKind, type Path, type RecordKind, type Shape, shapeOf } from "./shape.js";

/** Something in a value that its shape does not allow. */
export interface Mistake {
  readonly path: Path;
  /** `name`: the name of a member of a record; `unknown`: a member that the mapping does not have. */
  readonly kind: "missing" | "value" | "name" | "unknown";
  /** The shape of the part; of an unknown member, the shape of the mapping around it. */
  readonly shape: Shape;
  /** The part; `undefined` when it is missing. */
  readonly value: unknown;
  /** The mapping around an unknown member. */
  readonly holder?: Members;
}

type Members = Readonly<Record<string, unknown>>;

/** The largest number of mistakes that are found. */
const mostMistakes = 500;

/** Finds everything that is wrong with a value, the outermost first. */
export function mistakesIn(root: Shape, whole: unknown): Mistake[] {
  const found: Mistake[] = [];
  check(root, whole, []);
  return found;

  function add(kind: Mistake["kind"], path: Path, shape: Shape, value: unknown, holder?: Members): void {
    if (found.length < mostMistakes) found.push({ kind, path, shape, value, ...(holder && { holder }) });
  }

  function check(shape: Shape, value: unknown, path: Path): void {
    if (found.length >= mostMistakes || shape.kind === "anything") return;
    if (shape.isNullable && value === null) return;
    if (shape.kind === "either") {
      // Of several kinds of value, what is wrong with one of this kind.
      const meant = shape.options.find((option) => isOfKind(option, value)) ?? shape.options[0];
      check(meant as Shape, value, path);
      return;
    }
    if (value === undefined) add("missing", path, shape, value);
    else if (!isAllowed(shape, value)) add("value", path, shape, value);
    if (isOfKind(shape, value)) checkInside(shape, value, path);
  }

  function checkInside(shape: Shape, value: unknown, path: Path): void {
    if (shape.kind === "mapping") checkMapping(shape, value as Members, path);
    if (shape.kind === "record") checkRecord(shape, value as Members, path);
    if (shape.kind !== "list") return;
    for (const [index, item] of (value as unknown[]).entries()) check(shape.item, item, [...path, index]);
  }

  function checkMapping(shape: MappingKind, members: Members, path: Path): void {
    for (const [name, field] of Object.entries(shape.fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (member !== undefined || !("optional" in field)) check(shapeOf(field), member, [...path, name]);
    }
    if (shape.isOpen) return;
    const unknown = Object.keys(members).filter((name) => !Object.hasOwn(shape.fields, name));
    for (const name of unknown.slice(0, mostMistakes)) {
      add("unknown", [...path, name], shape, members[name], members);
    }
  }

  function checkRecord({ name, member }: RecordKind, members: Members, path: Path): void {
    for (const [given, value] of Object.entries(members)) {
      const inner = [...path, given];
      if (name !== undefined && !isAllowed(name, given)) add("name", inner, name, given);
      check(member, value, inner);
    }
  }
}

function isOfKind({ kind }: Shape, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "null") return value === null;
  if (kind === "list") return Array.isArray(value);
  if (kind !== "mapping" && kind !== "record") return typeof value === kind;
  return isMapping(value);
}

// Of lists and mappings without what is in them.
function isAllowed(shape: Shape, value: unknown): boolean {
  if (shape.kind === "choice") return (shape.choices as readonly unknown[]).includes(value);
  if (!isOfKind(shape, value)) return false;
  if (shape.kind === "list") {
    const items = value as unknown[];
    return isWithin(shape, items.length) && !(shape.isUnique && new Set(items).size < items.length);
  }
  if (shape.kind === "number") {
    const isFine = shape.isWhole ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isFine && isWithin(shape, value as number);
  }
  if (shape.kind !== "text") return true;
  const text = value as string;
  const { least, most, pattern } = shape;
  if ((least !== undefined || most !== undefined) && !isWithin(shape, lengthOf(text))) return false;
  return pattern?.test(text) !== false && shape.isAllowed?.(text) !== false;
}

function isWithin({ least = -Infinity, most = Infinity }: Limits, size: number): boolean {
  return size >= least && size <= most;
}

/** The length of a text in characters, as JSON Schema counts: an emoji is one. */
export function lengthOf(text: string): number {
  return [...text].length;
}
