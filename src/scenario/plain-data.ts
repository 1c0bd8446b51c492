import type { Members } from "../schema/problem.js";
import { type FieldPath, typeTag } from "../schema/shape.js";
import { quote } from "../schema/words.js";
import { forbiddenNames, scenarioLimits } from "./format/fields.js";
import { valueNotation } from "./format/notations.js";
import { type AddProblem, addingTo, type FieldProblem } from "./problems.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** As many as the snapshot of a sandbox has with all the keys that it can have. */
const maxPartsOfSnapshot = 10_000_000;

/** A scenario given as a value, which is not changed. It may have at most `maxParts` members and items. */
export function readValue(value: unknown, maxParts = maxPartsOfSnapshot): WrittenScenario {
  const problems: FieldProblem[] = [];
  const fields = readPlain(value, addingTo(problems), maxParts);
  // A value has no text with places.
  const find: ReadScenario["find"] = () => ({ place: undefined, depth: 0, layer: 0 });
  const scenario = fields && { fields, find };
  const notation = valueNotation;
  return { file: undefined, text: undefined, notation, startsLikeScenario: true, scenario, problems };
}

/** Copies plain data that should be a scenario; adds problems and returns `undefined` if something is wrong. Never throws. */
export function readPlain(value: unknown, addProblem: AddProblem, maxParts: number): Members | undefined {
  if (isPlainObject(value)) return new PlainCopy(addProblem, maxParts).of(value);
  addProblem({
    code: "not_a_mapping",
    field: [],
    message: `a scenario is a mapping of fields, found ${quote(value)}`,
    hint: typeTag(value) === "Promise" ? "await it" : "start with version: 1",
  });
  return undefined;
}

/** One copy: it counts the parts, and stops at the first that is too many. */
class PlainCopy {
  readonly #addProblem: AddProblem;
  readonly #maxParts: number;
  #parts = 0;
  #hasProblem = false;
  #isFull = false;

  constructor(addProblem: AddProblem, maxParts: number) {
    this.#addProblem = (problem) => {
      this.#hasProblem = true;
      addProblem(problem);
    };
    this.#maxParts = maxParts;
  }

  of(value: object): Members | undefined {
    try {
      const copied = this.#copy(value, []) as Members;
      return this.#hasProblem ? undefined : copied;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#addProblem({
        code: "not_plain_data",
        field: [],
        message: `it cannot be read: ${reason}`,
        hint: "pass plain data, without getters",
      });
      return undefined;
    }
  }

  #copy(part: unknown, path: FieldPath): unknown {
    if (!this.#count(part, path)) return undefined;
    if (path.length > scenarioLimits.levels) {
      this.#addProblem({
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
    if (Array.isArray(part)) return part.map((item, index) => this.#copy(item, [...path, index]));
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    this.#addProblem({
      code: "not_plain_data",
      field: path,
      message: `not plain data: found ${quote(part)}`,
      hint: "pass text (also for times), numbers, booleans, lists, objects",
    });
    return undefined;
  }

  /** Counts a part; returns whether it may still be copied. */
  #count(part: unknown, path: FieldPath): boolean {
    // The scenario itself is no part of it.
    if (path.length > 0) this.#parts += 1;
    // A list may have a large length without items.
    const items = Array.isArray(part) ? part.length : 0;
    if (this.#parts + items <= this.#maxParts) return !this.#isFull;

    // The rest is not read, and reported only once.
    if (!this.#isFull) {
      this.#isFull = true;
      this.#addProblem({
        code: "too_large",
        field: path,
        message: "the scenario has too many parts",
        hint: "split it, or use population",
      });
    }
    return false;
  }

  #copyMembers(part: object, path: FieldPath): Members {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const memberField = [...path, name];
      if (forbiddenNames.has(name)) {
        this.#addProblem({
          code: "forbidden_field",
          field: memberField,
          pointAt: "key",
          message: `${quote(name)} is not allowed as a name in a scenario`,
          hint: "choose another name",
        });
      } else if (member !== undefined) members[name] = this.#copy(member, memberField);
    }
    return members;
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (an iframe, a vm context, a test runner) have their own Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
