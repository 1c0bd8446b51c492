import type { Path } from "../../schema/shape.js";
import { quote } from "../../schema/words.js";
import { forbiddenNames } from "../format/fields.js";
import type { Diagnostic } from "../problems/scenario-error.js";
import type { Place } from "../problems/source.js";

/** The fields of a scenario, as yet unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

/** A scenario that was read, with the places of its fields. */
export interface ReadScenario {
  readonly fields: Fields;
  /** Finds the place of a field, or of the nearest one around it; `depth` is how much of the path was found. */
  readonly placeOf: (
    path: Path,
    pointAt: "key" | "value",
  ) => { readonly place: Place | undefined; readonly depth: number };
}

/** Takes what is wrong. */
export type Report = (diagnostic: Diagnostic) => void;

/** A scenario to be read. */
export interface FoundScenario {
  /** The file that it stands in, when it stands in one. */
  readonly file: string | undefined;
  readonly read: (report: Report) => ReadScenario | undefined;
}

/** The deepest nesting of a scenario. The format itself needs seven levels. */
export const maximumDepth = 32;
/** The largest number of values of a scenario, aliases written out, unless a caller allows more. */
const maximumValues = 100_000;

/**
 * Copies an object that should be a scenario: plain data only, its own members only, members set to `undefined` left out.
 *
 * Answers `undefined`, with reports, when something is wrong. Never throws.
 */
export function readPlain(value: unknown, report: Report, mostValues = maximumValues): Fields | undefined {
  let values = 0;
  let isFine = true;
  let isCut = false;
  if (!isPlainObject(value)) {
    const message = `a scenario is a mapping of fields, found ${quote(value)}`;
    report({ code: "not_a_mapping", path: [], message, hint: "begin with version: 1" });
    return undefined;
  }
  try {
    const copied = copy(value, []) as Fields;
    return isFine ? copied : undefined;
  } catch (error) {
    const message = `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return wrong({ code: "not_plain_data", path: [], message, hint: "pass plain data, without getters" });
  }

  function copy(part: unknown, path: Path): unknown {
    if (!hasRoomFor(part, path)) return undefined;
    if (path.length > maximumDepth) {
      const message = `nested deeper than ${maximumDepth} levels, or inside itself`;
      return wrong({ code: "too_deep", path, message, hint: "the format itself needs seven" });
    }
    if (part === null || typeof part === "string" || typeof part === "number" || typeof part === "boolean") {
      return part;
    }
    if (Array.isArray(part)) return part.map((item, index) => copy(item, [...path, index]));
    if (isPlainObject(part)) return copyMembers(part, path);
    const isDate = part instanceof Date;
    const message = `not plain data: found ${isDate ? "a Date" : `a value of type ${typeof part}`}`;
    const hint = isDate ? "pass its toISOString()" : "pass text, numbers, booleans, lists, objects";
    return wrong({ code: "not_plain_data", path, message, hint });
  }

  // Says once that there is none.
  function hasRoomFor(part: unknown, path: Path): boolean {
    values += 1;
    // A list may say that it is long and hold nothing.
    if (values + (Array.isArray(part) ? part.length : 0) < mostValues) return !isCut;
    const hint = "split it, or let the seed invent more of it";
    if (!isCut) wrong({ code: "too_large", path, message: "the scenario has too many parts", hint });
    isCut = true;
    return false;
  }

  function copyMembers(part: object, path: Path): Fields {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const inner = [...path, name];
      if (forbiddenNames.has(name)) {
        const message = `${JSON.stringify(name)} cannot be the name of anything in a scenario`;
        const hint = "choose another name";
        wrong({ code: "forbidden_field", path: inner, pointAt: "key", message, hint });
      } else if (member !== undefined) members[name] = copy(member, inner);
    }
    return members;
  }

  function wrong(diagnostic: Diagnostic): undefined {
    isFine = false;
    report(diagnostic);
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (an iframe, a vm context, a test runner) have an Object.prototype of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
