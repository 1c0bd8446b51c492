import { shapeProblems } from "../spec/schema/check.js";
import { type Path, pathText } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import {
  type ExtendsOptions,
  type Fields,
  type FoundScenario,
  type ReadScenario,
  type Report,
  resolveExtends,
} from "./extends.js";
import { parseDate } from "./format/changes.js";
import { forbiddenNames } from "./format/fields.js";
import { scenarioSchema } from "./format/schema.js";
import {
  type Diagnostic,
  maximumDepth,
  ScenarioError,
  type ScenarioProblem,
} from "./problems/scenario-error.js";
import type { Place } from "./problems/source.js";
import { consentsFit } from "./rules/consents.js";
import { factsOf, refRules, type ScenarioRule } from "./rules/facts.js";
import { faultsFit } from "./rules/faults.js";
import { keyRules } from "./rules/keys.js";
import { stepRules } from "./rules/steps.js";
import type { Scenario } from "./scenario.generated.js";

/** Each announced change has an effect, and an old path ends after it moved. */
const changesFit: ScenarioRule = ({ scenario, assumptions: { scopes }, wrong }) => {
  for (const [ref, change] of Object.entries(scenario.changes ?? {})) {
    const { at, say: _, move, assumptions, ...edits } = change;
    const path = ["changes", ref];
    const parts = [move, assumptions, ...Object.values(edits)];
    const isPlace = (name: string) => name === "in" || name === "on";
    if (parts.every((part = {}) => Object.keys(part).every(isPlace))) {
      wrong(
        "change_contradiction",
        path,
        "the change has no effect",
        "add an effect, such as codes or members",
        "key",
      );
    }
    const [starts = 0, ends = 0] = [parseDate(at), move && parseDate(move.sunset)];
    if (move !== undefined && ends <= starts) {
      const message = `the old path must end after it moves (${at}), not ${move.sunset}`;
      wrong("change_contradiction", [...path, "move", "sunset"], message, "write a later date");
    }
    const needed = assumptions?.me_scope;
    if (typeof needed === "string" && !scopes.includes(needed)) {
      const hint = `use one of ${scopes.join(", ")}`;
      const message = `there is no scope ${quote(needed)}`;
      wrong("unknown_scope", [...path, "assumptions", "me_scope"], message, hint);
    }
  }
};

// These compare the fields of a scenario with each other.
const rules = [...refRules, ...keyRules, faultsFit, ...stepRules];
// These are about one field, which most scenarios do not have.
const rulesOfField = [
  ["consents", consentsFit],
  ["changes", changesFit],
] as const;

/** The maximum number of reported problems of a scenario. */
const maximumProblems = 200;

/**
 * Interprets a scenario: merges it with the one it extends, checks the shape of its fields, then compares them with
 * each other. Throws a {@link ScenarioError} with all problems.
 */
export function interpretScenario({ read, file }: FoundScenario, options: ExtendsOptions): Scenario {
  const diagnostics: Diagnostic[] = [];
  const report = (one: Diagnostic) => diagnostics.push(one);
  const own = read(report);
  const whole = own?.fields.extends === undefined ? own : resolveExtends(own, file, options, report);
  if (whole === undefined) {
    // A missing field may be in the extended scenario.
    const found = own === undefined ? [] : shapeProblems(scenarioSchema, own.fields);
    diagnostics.push(...found.filter(({ code }) => code !== "missing_field"));
    throw new ScenarioError(problemsOf(diagnostics, own, file));
  }
  const misshapen = shapeProblems(scenarioSchema, whole.fields);
  diagnostics.push(...misshapen);
  const scenario = whole.fields as unknown as Scenario;
  // The rules compare fields, which must have the right shape.
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, report);
    for (const rule of rules) rule(facts);
    for (const [field, rule] of rulesOfField) if (scenario[field] !== undefined) rule(facts);
  }
  if (diagnostics.length === 0) return scenario;
  throw new ScenarioError(problemsOf(diagnostics, whole, file));
}

/**
 * The problems with their places, sorted by place: first in the scenario's own text, then in the extended ones. Only
 * the first problem of each field. `file` is the file of problems without a place.
 */
function problemsOf(
  diagnostics: readonly Diagnostic[],
  read: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const own = read?.placeOf([], "value").place?.source;
  const isOwn = (place: Place) => own === undefined || place.source === own;
  const order = (place: Place | undefined) =>
    place === undefined ? 0 : place.offset + (isOwn(place) ? 0 : (own?.text.length ?? 0) + 1);
  const seen = new Set<string>();
  return diagnostics
    .map((one) => ({ ...one, place: one.place ?? read?.placeOf(one.path, one.pointAt ?? "value").place }))
    .filter(({ path, place }) => {
      const id = JSON.stringify([path, place?.offset]);
      return !seen.has(id) && seen.add(id);
    })
    .sort((one, other) => order(one.place) - order(other.place))
    .slice(0, maximumProblems)
    .map(({ code, path, message, hint, place }) => {
      const name = place === undefined ? file : place.source.file;
      return {
        code,
        path: pathText(path),
        message,
        ...(hint !== undefined && { hint }),
        ...(name !== undefined && { file: name }),
        ...place?.describe(),
      };
    });
}

/** The maximum number of values of a scenario, with aliases expanded, unless a caller allows more. */
const maximumValues = 100_000;

/**
 * Copies an object that should be a scenario: only plain data, only own members, none that are `undefined`.
 *
 * Returns `undefined`, with reports, if something is wrong. Never throws.
 */
export function readPlain(value: unknown, report: Report, mostValues = maximumValues): Fields | undefined {
  let values = 0;
  let isFine = true;
  let isCut = false;
  if (!isPlainObject(value)) {
    const message = `a scenario is a mapping of fields, found ${quote(value)}`;
    report({ code: "not_a_mapping", path: [], message, hint: "start with version: 1" });
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
      const message = `nested deeper than ${maximumDepth} levels, or contains itself`;
      return wrong({ code: "too_deep", path, message, hint: "the format needs only seven" });
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

  // Reports the lack of room only once.
  function hasRoomFor(part: unknown, path: Path): boolean {
    values += 1;
    // A list may have a large length without items.
    if (values + (Array.isArray(part) ? part.length : 0) < mostValues) return !isCut;
    const hint = "split it, or use population";
    if (!isCut) wrong({ code: "too_large", path, message: "the scenario has too many parts", hint });
    isCut = true;
    return false;
  }

  function copyMembers(part: object, path: Path): Fields {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(part)) {
      const inner = [...path, name];
      if (forbiddenNames.has(name)) {
        const message = `${JSON.stringify(name)} is not allowed as a name in a scenario`;
        wrong({ code: "forbidden_field", path: inner, pointAt: "key", message, hint: "choose another name" });
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
  // Objects of another realm (an iframe, a vm context, a test runner) have their own Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
