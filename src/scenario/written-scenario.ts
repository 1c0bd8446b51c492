import type { Members } from "../schema/check.js";
import { type Notation, valueNotation } from "../schema/describe.js";
import type { FieldPath } from "../schema/shape.js";
import { isPlainObject, typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
import { forbiddenNames, scenarioLimits } from "./format/fields.js";
import type { Locate } from "./places.js";
import { type FieldProblem, ProblemList } from "./problems.js";

/** A scenario as it is written, in a text or as a value, before any check. */
export interface WrittenScenario {
  readonly file: string | undefined;
  /** `undefined` for a value. */
  readonly text: string | undefined;
  /** The hints of its problems are in these words. A page that has only values loads none of YAML's. */
  readonly notation: Notation;
  /**
   * Whether a text has a line `version: 1`, even if the rest cannot be read; true for a value. The problems of any other file that
   * `extends` names are not shown, so that `extends` cannot be used to read any file.
   */
  readonly startsLikeScenario: boolean;
  /** `undefined` if it cannot be read. */
  readonly fields: Members | undefined;
  readonly locate: Locate;
  readonly problems: readonly FieldProblem[];
}

/** As many as a scenario has with all the keys that it can have. */
const maxPartsOfScenario = 10_000_000;

/** A scenario given as a value, which is not changed. It may have at most `maxParts` members and items. */
export function readValue(value: unknown, maxParts = maxPartsOfScenario): WrittenScenario {
  const { fields, problems } = readPlain(value, maxParts);
  return {
    file: undefined,
    text: undefined,
    notation: valueNotation,
    startsLikeScenario: true,
    fields,
    locate: () => undefined,
    problems,
  };
}

/** Copies plain data that should be a scenario: its fields, or why it has none. Never throws. */
export function readPlain(
  value: unknown,
  maxParts: number,
): { readonly fields: Members | undefined; readonly problems: readonly FieldProblem[] } {
  if (isPlainObject(value)) return new PlainCopy(maxParts).copyWhole(value);
  const message = `a scenario is a mapping of fields, found ${quote(value)}`;
  const hint = typeTag(value) === "Promise" ? "await it" : "start with version: 1";
  return { fields: undefined, problems: [{ code: "not_a_mapping", field: [], message, hint }] };
}

/** One copy: it counts the members and items, and stops at the first that is too many. */
class PlainCopy {
  readonly #problems = new ProblemList();
  readonly #maxParts: number;
  #parts = 0;
  /** Whether there were too many parts: the rest is not read. */
  #isFull = false;

  constructor(maxParts: number) {
    this.#maxParts = maxParts;
  }

  copyWhole(value: object): ReturnType<typeof readPlain> {
    const problems = this.#problems.found;
    try {
      const fields = this.#copyMembers(value, []);
      if (problems.length === 0) return { fields, problems };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `it cannot be read: ${reason}`;
      this.#problems.add("not_plain_data", [], message, "pass plain data, without getters");
    }
    return { fields: undefined, problems };
  }

  #copy(part: unknown, path: FieldPath): unknown {
    this.#parts += 1;
    // A list may have a large length without items: they are not walked to count them.
    const itemsAhead = Array.isArray(part) ? part.length : 0;
    if (!this.#isFull && this.#parts + itemsAhead > this.#maxParts) {
      this.#isFull = true;
      this.#problems.add("too_large", path, "the scenario has too many parts", "split it, or use population");
    }
    if (this.#isFull) return undefined;

    if (path.length > scenarioLimits.levels) {
      const message = `nested deeper than ${scenarioLimits.levels} levels, or contains itself`;
      this.#problems.add("too_deep", path, message, "the format needs only seven");
      return undefined;
    }

    if (typeof part === "number" && !Number.isFinite(part)) {
      this.#problems.add("out_of_range", path, "JSON has no such number", "write another number");
      return undefined;
    }
    if (part === null || ["string", "number", "boolean"].includes(typeof part)) return part;
    if (Array.isArray(part)) return this.#copyItems(part, path);
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    const message = `not plain data: found ${quote(part)}`;
    const hint = "pass text (also for times), numbers, booleans, lists, objects";
    this.#problems.add("not_plain_data", path, message, hint);
    return undefined;
  }

  #copyItems(list: readonly unknown[], path: FieldPath): unknown[] {
    const items: unknown[] = [];
    const { length } = list;
    // By position, so that a hole such as in `[, 1]` is an item without a value.
    for (let index = 0; index < length; index++) items.push(this.#copy(list[index], [...path, index]));
    return items;
  }

  #copyMembers(part: object, path: FieldPath): Members {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const memberField = [...path, name];
      if (forbiddenNames.has(name)) {
        const message = `${quote(name)} is not allowed as a name in a scenario`;
        this.#problems.add("forbidden_field", memberField, message, "choose another name", "name");
      } else if (member !== undefined) members[name] = this.#copy(member, memberField);
    }
    return members;
  }
}
