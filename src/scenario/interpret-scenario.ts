import { scenarioSchema } from "./format/schema.js";
import { explainIssues } from "./problems/explain-issues.js";
import { ScenarioError } from "./problems/scenario-error.js";
import { type Diagnostic, pathText, type ScenarioProblem } from "./problems/scenario-problem.js";
import { type ExtendsOptions, type FoundScenario, resolveExtends } from "./read/extends.js";
import type { ReadScenario } from "./read/plain.js";
import { describePlace } from "./read/source.js";
import { consentsFit } from "./rules/consents.js";
import { factsOf, type ScenarioRule } from "./rules/facts.js";
import { faultsFit } from "./rules/faults.js";
import {
  activeKeysWithinLimit,
  expiryFitsState,
  scopesAreKnown,
  secretsFit,
  usageAddsUp,
} from "./rules/keys.js";
import { refsAreFree, refsExist } from "./rules/refs.js";
import { overlapFitsState, replacementsEnd, replacementsFit } from "./rules/rotations.js";
import { stepsFit, timelineIsInOrder } from "./rules/steps.js";
import type { Scenario } from "./scenario.generated.js";

// What the fields of a scenario say of each other.
const rules: readonly ScenarioRule[] = [
  refsAreFree,
  refsExist,
  scopesAreKnown,
  usageAddsUp,
  expiryFitsState,
  activeKeysWithinLimit,
  secretsFit,
  replacementsFit,
  replacementsEnd,
  overlapFitsState,
  faultsFit,
  consentsFit,
  timelineIsInOrder,
  stepsFit,
];

/** The largest number of problems of one scenario that are reported; who has more has one problem. */
const maximumProblems = 200;

/**
 * Makes a scenario of what is read: lays it over what it extends, checks the shape of its fields, then what they say
 * of each other. Throws a {@link ScenarioError} with everything that is wrong.
 */
export function interpretScenario({ read, file }: FoundScenario, options: ExtendsOptions): Scenario {
  const diagnostics: Diagnostic[] = [];
  const report = (one: Diagnostic) => diagnostics.push(one);
  const own = read(report);
  const whole = own && resolveExtends(own, file, options, report);
  if (whole === undefined) throw new ScenarioError(problemsOf(diagnostics, own, file));
  const checked = scenarioSchema.safeParse(whole.fields);
  if (!checked.success) {
    diagnostics.push(...explainIssues(checked.error.issues, scenarioSchema, whole.fields));
  } else {
    const facts = factsOf(checked.data as Scenario, report);
    for (const rule of rules) rule(facts);
  }
  if (checked.success && diagnostics.length === 0) return checked.data as Scenario;
  throw new ScenarioError(problemsOf(diagnostics, whole, file));
}

/**
 * The problems with their places: those of the scenario's own text first, from its top to its end; of each field the
 * first one only. `file` is the one of those that have no place.
 */
export function problemsOf(
  diagnostics: readonly Diagnostic[],
  read: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const own = read?.placeOf([], "value").place?.source;
  const first = new Map<string, { order: number; problem: () => ScenarioProblem }>();
  for (const { code, path, message, hint, pointAt = "value", place: given } of diagnostics) {
    const place = given ?? read?.placeOf(path, pointAt).place;
    const id = JSON.stringify([path, place?.offset]);
    if (first.has(id)) continue;
    const isOwn = own === undefined || place === undefined || place.source === own;
    first.set(id, {
      order: (place?.offset ?? 0) + (isOwn ? 0 : own.text.length + 1),
      problem() {
        const name = place === undefined ? file : place.source.file;
        return {
          code,
          path: pathText(path),
          message,
          ...(hint !== undefined && { hint }),
          ...(name !== undefined && { file: name }),
          ...(place !== undefined && describePlace(place)),
        };
      },
    });
  }
  const sorted = [...first.values()].sort((one, other) => one.order - other.order);
  return sorted.slice(0, maximumProblems).map(({ problem }) => problem());
}
