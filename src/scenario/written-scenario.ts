import { type Members, maximumProblems } from "../schema/check.js";
import type { FieldPath } from "../schema/field-path.js";
import { type Notation, valueNotation } from "../schema/notation.js";
import { isPlainObject, typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
import { forbiddenNames, scenarioLimits } from "./format/fields.js";
import {
  type FieldProblem,
  mayNameSecret,
  type Place,
  ProblemList,
  problemAt,
  type ScenarioProblem,
  type SourcePlace,
  type SourceText,
} from "./problems.js";

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
  /** The texts of the fields: its own, then that of the scenario that it extends, and so on; none of a value. */
  readonly texts: readonly SourceText[];
  readonly locate: (field: FieldPath, pointAt: "name" | "value") => FieldLocation;
  readonly problems: readonly FieldProblem[];
}

/** Where a field is in the texts. */
export interface FieldLocation {
  /** Whether a text has the field itself. */
  readonly isInText: boolean;
  /** The place of the field, or of the nearest one around it, or of the whole scenario; `undefined` for a scenario without a text. */
  readonly place: SourcePlace | undefined;
}

/** A value has no text with places. */
export const nowhere: FieldLocation = { isInText: false, place: undefined };

/** The place of a field for people; `undefined` if no text has any part of its path. */
export function placeOfField({ locate }: WrittenScenario, field: FieldPath): Place | undefined {
  const isPartInText = locate(field.slice(0, 1), "value").isInText;
  return isPartInText ? locate(field, "value").place?.describe() : undefined;
}

/** The problems as they are shown: those without a place, then those of the scenario's own text, then those of each extended one. */
export function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: WrittenScenario,
): ScenarioProblem[] {
  const placed = firstOfEachField(problems, scenario);

  // After the texts of the scenario, those that have problems and could not be merged with it.
  const texts = new Set(scenario.texts);
  for (const { place } of placed) {
    if (place !== undefined) texts.add(place.source);
  }
  const sources = [...texts];
  placed.sort(({ place: one }, { place: other }) => {
    if (one === undefined) return other === undefined ? 0 : -1;
    if (other === undefined) return 1;
    if (one.source === other.source) return one.offset - other.offset;
    return sources.indexOf(one.source) - sources.indexOf(other.source);
  });

  const firstProblems = placed.slice(0, maximumProblems);
  return firstProblems.map((problem) => problemAt(problem, problem.place?.describe(), scenario.file));
}

/** The problems with their places; of several problems of one field at one place, only the first. */
function firstOfEachField(problems: readonly FieldProblem[], { locate }: WrittenScenario): FieldProblem[] {
  const placed: FieldProblem[] = [];
  const seenIds = new Set<string>();
  for (const problem of problems) {
    const { field, pointAt = "value" } = problem;
    const location = locate(field, pointAt);
    const place = problem.place ?? location.place;

    // A field in the text is known by its name and its place: aliases give it several paths. Here, `status` is also the field
    // `faults[1].then.status`:
    //
    //   faults:
    //     - then: &down { status: 900 }
    //     - then: *down
    //
    // Fields that are not in the text can share the place of the mapping around them: each is known by its path.
    const known = location.isInText ? field.slice(-1) : field;
    const id = JSON.stringify([known, place?.offset, place?.source.file]);
    if (seenIds.has(id)) continue;
    seenIds.add(id);
    placed.push({ ...problem, place });
  }
  return placed;
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
    texts: [],
    locate: () => nowhere,
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

  /** Adds a problem. No path goes into a secret (R46). */
  #add(code: FieldProblem["code"], field: FieldPath, message: string, hint: string, pointAt?: "name"): void {
    const secret = field.findIndex((step) => mayNameSecret(String(step)));
    const shownField = secret === -1 ? field : field.slice(0, secret + 1);
    this.#problems.add(code, shownField, message, hint, pointAt);
  }

  copyWhole(value: object): ReturnType<typeof readPlain> {
    const problems = this.#problems.found;
    try {
      const fields = this.#copyMembers(value, []);
      if (problems.length === 0) return { fields, problems };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `it cannot be read: ${reason}`;
      this.#add("not_plain_data", [], message, "pass plain data, without getters");
    }
    return { fields: undefined, problems };
  }

  #copy(part: unknown, path: FieldPath): unknown {
    this.#parts += 1;
    // A list may have a large length without items: they are not walked to count them.
    const itemsAhead = Array.isArray(part) ? part.length : 0;
    if (!this.#isFull && this.#parts + itemsAhead > this.#maxParts) {
      this.#isFull = true;
      this.#add("too_large", path, "the scenario has too many parts", "split it, or use population");
    }
    if (this.#isFull) return undefined;

    if (path.length > scenarioLimits.levels) {
      const message = `nested deeper than ${scenarioLimits.levels} levels, or contains itself`;
      this.#add("too_deep", path, message, "the format needs only seven");
      return undefined;
    }

    if (typeof part === "number" && !Number.isFinite(part)) {
      this.#add("out_of_range", path, "JSON has no such number", "write another number");
      return undefined;
    }
    if (part === null || ["string", "number", "boolean"].includes(typeof part)) return part;
    if (Array.isArray(part)) return this.#copyItems(part, path);
    if (isPlainObject(part)) return this.#copyMembers(part, path);
    const message = `not plain data: found ${quote(part)}`;
    const hint = "pass text (also for times), numbers, booleans, lists, objects";
    this.#add("not_plain_data", path, message, hint);
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
        this.#add("forbidden_field", memberField, message, "choose another name", "name");
      } else if (member !== undefined) members[name] = this.#copy(member, memberField);
    }
    return members;
  }
}
