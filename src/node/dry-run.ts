import { type Difference, differencesOf } from "../api/story/expectation.js";
import { runStory } from "../api/story/run-story.js";
import { defaultScopes, isMarked, sandboxMark } from "../rules/api-key.js";
import { nearest, quote } from "../rules/schema/words.js";
import { advanceClock } from "../sandbox/operations/operations.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox-state.js";
import type { Performed, PlayedStep, StoryStep, TimelineResult } from "../sandbox/step-results.js";
import { describedKeys, writtenKeys } from "../scenario/described-keys.js";
import { type FieldProblem, type Place, problemAt, type ScenarioProblem } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { PlaceOf } from "../scenario/scenario-text.js";
import { writtenEndpoints } from "../scenario/written-endpoints.js";
import type { LoadedScenario } from "./files/load-scenario.js";
import { startInNode } from "./platform.js";

const maxProblems = 20;

export function dryRunProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: PlaceOf,
  options: GivenOptions = {},
): ScenarioProblem[] {
  if (scenario.timeline === undefined && scenario.story === undefined) return [];
  const failed = dryRunScenario(() => startInNode(scenario, { name, ...options, frozen: true }));
  return problemsAt(failed, name, placeOf);
}

function problemsAt(problems: readonly FieldProblem[], file: string, placeOf: PlaceOf): ScenarioProblem[] {
  return problems.slice(0, maxProblems).map((problem) => problemAt(problem, placeOf(problem.field), file));
}

/** Returns the pinned secrets without the mark of a sandbox: each may be a real key, which must not be in a file. */
export function unmarkedSecrets(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: PlaceOf,
): ScenarioProblem[] {
  const unmarked = [...writtenKeys(scenario)].flatMap(({ ref, path, fields }): FieldProblem[] => {
    if (fields.secret === undefined || isMarked(fields.secret)) return [];
    const message = `the secret of ${quote(ref)} has no ${sandboxMark} after its prefix, as every key of a sandbox has`;
    const hint = `if it is a real key, rotate it and remove it here. If not, write ${sandboxMark} there, or leave secret out and the seed makes one`;
    return [{ code: "secret_unmarked", field: [...path, "secret"], message, hint }];
  });
  return problemsAt(unmarked, name, placeOf);
}

/** Returns the scopes that an endpoint requires and no key has: each of its requests gets 403. */
export function unheldScopes(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: PlaceOf,
): ScenarioProblem[] {
  const held = scopesOfKeys(scenario);
  const required = writtenEndpoints(scenario).map(
    ([operationId, { scope }]) => [["endpoints", operationId, "scope"], scope] as const,
  );
  const ofMe = [["assumptions", "me_scope"], scenario.assumptions?.me_scope] as const;
  const unheld = [...required, ofMe].flatMap(([field, scope]): FieldProblem[] => {
    if (!scope || held.size === 0 || held.has(scope)) return [];
    const near = nearest(scope, held);
    const hint = near ? `did you mean ${near}?` : "add it to the scopes of a key";
    const message = `no key of this scenario has the scope ${quote(scope)}: each request gets 403`;
    return [{ code: "scope_unheld", field, message, hint }];
  });
  return problemsAt(unheld, name, placeOf);
}

/** The scopes of all keys, also of those that a step creates. */
function scopesOfKeys(scenario: Scenario): ReadonlySet<string> {
  const { timeline = [], story = [] } = scenario;
  const created = [...timeline, ...story].flatMap((step) => step.create_key ?? []);
  const keys = [...Array.from(describedKeys(scenario), ({ fields }) => fields), ...created];
  return new Set(keys.flatMap(({ scopes = defaultScopes }) => scopes));
}

export interface PlacedDifference extends Difference {
  /** `undefined` if no text has the field. */
  readonly place: Place | undefined;
}

/** Adds to the differences of a step where they are in its file. */
export function placeDifferences(result: PlayedStep, placeOf: PlaceOf): PlacedDifference[] {
  return differencesOf(result).map((one) => ({ ...one, place: placeOf(one.field) }));
}

const maxRequests = 5_000;

/** `open` starts the scenario with a frozen clock. */
export function dryRunScenario(open: () => SandboxState): FieldProblem[] {
  const sandbox = open();
  const duringStory = timelineResults(sandbox);
  const story = runWholeStory(sandbox);
  const cameOut = duringStory.filter((result) => failureOf(result) === undefined);
  const inStory = new Set(cameOut.map(({ index }) => index));

  const alone = open();
  const results = timelineResults(alone);
  const last = alone.timeline.steps.at(-1);
  // Skipped for snapshots: earlier changes may have left timeline steps that fail.
  if (last !== undefined && alone.scenario.requests_responded === undefined) {
    advanceClock(alone, Math.max(0, last.at - alone.clock.now()));
  }
  // A timeline step may depend on the story, so it must succeed in only one of both runs.
  const timeline = results.flatMap((result) => (inStory.has(result.index) ? [] : (failureOf(result) ?? [])));
  return [...timeline, ...story];
}

function timelineResults(sandbox: SandboxState): readonly TimelineResult[] {
  const results: TimelineResult[] = [];
  sandbox.journal.subscribe((event) => {
    if (event.type === "timeline.step") results.push(event.result);
  });
  return results;
}

function runWholeStory(sandbox: SandboxState): FieldProblem[] {
  const failed: FieldProblem[] = [];
  let requests = 0;
  const isShort = ({ request }: StoryStep) => {
    requests += request === undefined ? 0 : (request.repeat ?? 1);
    return requests <= maxRequests;
  };
  for (const result of runStory(sandbox, isShort)) {
    const { response, performed } = result;
    const rejected = actionErrorProblem(performed);
    const hint = response === null ? undefined : `the request results in ${response.outcome}`;
    for (const { at, field, message } of differencesOf(result)) {
      if (at?.startsWith("timeline")) continue;
      const step = rejected === undefined ? field : field.slice(0, 2);
      failed.push({ code: "step_fails", field: step, message, hint, ...rejected });
    }
  }
  return failed;
}

function failureOf({ index, step, performed, differences }: TimelineResult): FieldProblem | undefined {
  const field = ["timeline", index];
  const rejected = step.expect === undefined ? actionErrorProblem(performed) : undefined;
  if (rejected !== undefined) return { code: "step_fails", field, ...rejected };
  const [difference] = differences;
  if (difference === undefined) return undefined;
  const { expected, found } = difference;
  const message = `error: expected ${expected}, found ${found}`;
  return { code: "step_fails", field: [...field, "expect", "error"], message };
}

function actionErrorProblem(performed: Performed | null): Pick<FieldProblem, "message" | "hint"> | undefined {
  const rejection = performed?.rejection ?? null;
  if (rejection === null) return undefined;
  const hint = `if this is intended, write expect: { error: ${rejection.code} }`;
  return { message: `the step is rejected: ${rejection.message}`, hint };
}
