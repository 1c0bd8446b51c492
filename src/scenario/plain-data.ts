import type { Members } from "../rules/schema/problem.js";
import { type FieldPath, tagOf } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { forbiddenNames, scenarioLimits } from "./format/fields.js";
import { type AddProblem, addingTo, type FieldProblem } from "./problems.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** As many as the snapshot of a sandbox has with all the keys that it can have. */
const maxValuesOfSnapshot = 10_000_000;

/** A scenario given as a value, which is not changed. It may have at most `maxValues` values. */
export function readValue(value: unknown, maxValues = maxValuesOfSnapshot): WrittenScenario {
  const problems: FieldProblem[] = [];
  const fields = readPlain(value, addingTo(problems), maxValues);
  const find: ReadScenario["find"] = () => ({ place: undefined, depth: 0, layer: 0 });
  const scenario = fields && { fields, find };
  return { file: undefined, text: undefined, startsLikeScenario: true, scenario, problems };
}

/** Copies plain data that should be a scenario; `undefined`, with reports, if something is wrong. Never throws. */
export function readPlain(value: unknown, addProblem: AddProblem, maxValues: number): Members | undefined {
  if (isPlainObject(value)) return new PlainCopy(addProblem, maxValues).of(value);
  const message = `a scenario is a mapping of fields, found ${quote(value)}`;
  const hint = tagOf(value) === "Promise" ? "await it" : "start with version: 1";
  return addProblem({ code: "not_a_mapping", field: [], message, hint });
}

class PlainCopy {
  readonly #addProblem: AddProblem;
  readonly #maxValues: number;
  #values = 0;
  #isFine = true;
  #isCut = false;

  constructor(addProblem: AddProblem, maxValues: number) {
    this.#addProblem = (problem) => {
      this.#isFine = false;
      return addProblem(problem);
    };
    this.#maxValues = maxValues;
  }

  of(value: object): Members | undefined {
    try {
      const copied = this.#copy(value, []) as Members;
      return this.#isFine ? copied : undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `it cannot be read: ${reason}`;
      const hint = "pass plain data, without getters";
      return this.#addProblem({ code: "not_plain_data", field: [], message, hint });
    }
  }

  #copy(part: unknown, path: FieldPath): unknown {
    if (!this.#hasRoomFor(part, path)) return undefined;
    if (path.length > scenarioLimits.levels) {
      const message = `nested deeper than ${scenarioLimits.levels} levels, or contains itself`;
      const hint = "the format needs only seven";
      return this.#addProblem({ code: "too_deep", field: path, message, hint });
    }

    if (part === null || typeof part === "string" || typeof part === "number" || typeof part === "boolean") {
      return part;
    }
    if (Array.isArray(part)) return part.map((item, index) => this.#copy(item, [...path, index]));
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    const message = `not plain data: found ${quote(part)}`;
    const hint = "pass text (also for times), numbers, booleans, lists, objects";
    return this.#addProblem({ code: "not_plain_data", field: path, message, hint });
  }

  #hasRoomFor(part: unknown, path: FieldPath): boolean {
    this.#values += 1;
    // A list may have a large length without items.
    const items = Array.isArray(part) ? part.length : 0;
    if (this.#values + items < this.#maxValues) return !this.#isCut;

    // The rest is not read, and reported only once.
    if (!this.#isCut) {
      this.#isCut = true;
      const message = "the scenario has too many parts";
      this.#addProblem({ code: "too_large", field: path, message, hint: "split it, or use population" });
    }
    return false;
  }

  #copyMembers(part: object, path: FieldPath): Members {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const inner = [...path, name];
      if (forbiddenNames.has(name)) {
        const message = `${quote(name)} is not allowed as a name in a scenario`;
        const hint = "choose another name";
        this.#addProblem({ code: "forbidden_field", field: inner, pointAt: "key", message, hint });
      } else if (member !== undefined) members[name] = this.#copy(member, inner);
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
