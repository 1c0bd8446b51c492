import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isPlainObject, typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
import { valueNotation } from "./format/notations.js";
import { forbiddenNames, scenarioLimits } from "./format/scenario-limits.js";
import { type FieldProblem, ProblemList } from "./problems.js";
import type { FieldLocation, WrittenScenario } from "./written-scenario.js";

/** As many as the snapshot of a sandbox has with all the keys that it can have. */
const maxPartsOfSnapshot = 10_000_000;

/** A scenario given as a value, which is not changed. It may have at most `maxParts` members and items. */
export function readValue(value: unknown, maxParts = maxPartsOfSnapshot): WrittenScenario {
  const written = { file: undefined, text: undefined, notation: valueNotation, startsLikeScenario: true };
  const plain = readPlain(value, maxParts);
  if (plain.kind === "not_plain") return { ...written, scenario: undefined, problems: plain.problems };
  return { ...written, scenario: { fields: plain.fields, texts: [], locate: locateInValue }, problems: [] };
}

/** A value has no text with places. */
function locateInValue(): FieldLocation {
  return { match: "none", place: undefined };
}

/** A copy of plain data, or why the data cannot be copied. */
type PlainCopyResult =
  | { readonly kind: "plain"; readonly fields: Members }
  | { readonly kind: "not_plain"; readonly problems: readonly FieldProblem[] };

/** Copies plain data that should be a scenario. Never throws. */
export function readPlain(value: unknown, maxParts: number): PlainCopyResult {
  if (isPlainObject(value)) return new PlainCopy(maxParts).copyWhole(value);
  const problem: FieldProblem = {
    code: "not_a_mapping",
    field: [],
    message: `a scenario is a mapping of fields, found ${quote(value)}`,
    hint: typeTag(value) === "Promise" ? "await it" : "start with version: 1",
  };
  return { kind: "not_plain", problems: [problem] };
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

  copyWhole(value: object): PlainCopyResult {
    try {
      const fields = this.#copyMembers(value, []);
      if (this.#problems.found.length === 0) return { kind: "plain", fields };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#problems.add({
        code: "not_plain_data",
        field: [],
        message: `it cannot be read: ${reason}`,
        hint: "pass plain data, without getters",
      });
    }
    return { kind: "not_plain", problems: this.#problems.found };
  }

  #copy(part: unknown, path: FieldPath): unknown {
    this.#parts += 1;
    // A list may have a large length without items: they are not walked to count them.
    const itemsAhead = Array.isArray(part) ? part.length : 0;
    if (!this.#isFull && this.#parts + itemsAhead > this.#maxParts) {
      this.#isFull = true;
      this.#problems.add({
        code: "too_large",
        field: path,
        message: "the scenario has too many parts",
        hint: "split it, or use population",
      });
    }
    if (this.#isFull) return undefined;

    if (path.length > scenarioLimits.levels) {
      this.#problems.add({
        code: "too_deep",
        field: path,
        message: `nested deeper than ${scenarioLimits.levels} levels, or contains itself`,
        hint: "the format needs only seven",
      });
      return undefined;
    }

    if (part === null || typeof part === "string" || typeof part === "number" || typeof part === "boolean") {
      return part;
    }
    if (Array.isArray(part)) return this.#copyItems(part, path);
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    this.#problems.add({
      code: "not_plain_data",
      field: path,
      message: `not plain data: found ${quote(part)}`,
      hint: "pass text (also for times), numbers, booleans, lists, objects",
    });
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
        this.#problems.add({
          code: "forbidden_field",
          field: memberField,
          pointAt: "name",
          message: `${quote(name)} is not allowed as a name in a scenario`,
          hint: "choose another name",
        });
      } else if (member !== undefined) members[name] = this.#copy(member, memberField);
    }
    return members;
  }
}
