import { type Difference, differencesOf } from "../api/story/expectation.js";
import { runStory } from "../api/story/run-story.js";
import { advanceClock } from "../sandbox/operations/operations.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { Performed, PlayedStep, StoryStep, TimelineResult } from "../sandbox/step-results.js";
import type { FieldProblem, Place, ScenarioPlaces } from "../scenario/problems.js";
import type { LoadedScenario } from "./files/load-scenario.js";
import { startInNode } from "./platform.js";

const maxProblems = 20;

/** What fails in the timeline and the story of a scenario. */
export function dryRunProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  options: StartOptions = {},
): FieldProblem[] {
  if (scenario.timeline === undefined && scenario.story === undefined) return [];
  const failed = dryRunScenario(() => startInNode(scenario, { name, ...options, frozen: true }));
  return failed.slice(0, maxProblems);
}

export interface PlacedDifference extends Difference {
  /** `undefined` if no text has the field. */
  readonly place: Place | undefined;
}

/** Adds to the differences of a step where they are in its file. */
export function placeDifferences(result: PlayedStep, { placeOf }: ScenarioPlaces): PlacedDifference[] {
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
  const error = performed?.error ?? null;
  if (error === null) return undefined;
  const hint = `if this is intended, write expect: { error: ${error.code} }`;
  return { message: `the step is rejected: ${error.message}`, hint };
}
