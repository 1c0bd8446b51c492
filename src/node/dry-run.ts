import { runStory } from "../api/story/run-story.js";
import { requireInstant } from "../sandbox/clock.js";
import { advanceClock, runDue } from "../sandbox/operations/operations.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { type ActionResult, differenceText, type StoryStep, type TimelineResult } from "../sandbox/steps.js";
import { problemsAtStart } from "../scenario/checks/start-rules.js";
import type { FieldProblem } from "../scenario/problems.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { warningsOf } from "../scenario/warnings.js";
import { nodePlatform, startInNode } from "./platform.js";

/** The most problems that are shown. */
const maxProblems = 20;

/** The most requests of a dry run. */
const maxRequests = 5_000;

/** What fails at the start of a scenario, or else the steps that fail in its timeline and its story. */
export function dryRunProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  options: StartOptions = {},
): FieldProblem[] {
  const { now } = options;
  const start = now ?? scenario.clock?.now;
  const startsAt = start === undefined ? nodePlatform.time() : requireInstant(start);
  const problems = problemsAtStart(scenario, startsAt, start !== undefined);
  if (problems.length > 0) return problems.slice(0, maxProblems);

  const hasSteps = scenario.timeline !== undefined || scenario.story !== undefined;
  if (!hasSteps) return [];
  const failed = dryRun(() => startInNode({ scenario, name }, { ...options, frozen: true }));
  return failed.slice(0, maxProblems);
}

/**
 * Runs a scenario twice, and returns which steps fail: with its story, which moves the clock, and without it. `start` starts the
 * scenario with a frozen clock.
 */
export function dryRun(start: () => SandboxState): FieldProblem[] {
  const withStory = start();
  const timelineWithStory = followTimeline(withStory);
  // Steps that are due at the start.
  runDue(withStory);
  const storyProblems = runWholeStory(withStory);

  const withoutStory = start();
  const timelineWithoutStory = followTimeline(withoutStory);
  runDue(withoutStory);
  const last = withoutStory.timeline.steps.at(-1);
  if (last !== undefined) {
    const by = Math.max(0, last.at - withoutStory.clock.now());
    advanceClock(withoutStory, { by }, { isScripted: true });
  }

  // A step of the timeline may depend on the story: it fails only if it fails in both runs.
  const succeeded = new Set<number>();
  for (const result of timelineWithStory) {
    if (problemOfTimelineStep(result) === undefined) succeeded.add(result.index);
  }
  const problems: FieldProblem[] = [];
  for (const result of timelineWithoutStory) {
    const problem = problemOfTimelineStep(result);
    if (problem !== undefined && !succeeded.has(result.index)) problems.push(problem);
  }
  return [...problems, ...storyProblems];
}

/** A list that gets the result of each step of the timeline that runs from now on. */
function followTimeline(sandbox: SandboxState): readonly TimelineResult[] {
  const results: TimelineResult[] = [];
  sandbox.journal.subscribe((event) => {
    if (event.type === "timeline.step") results.push(event.result);
  });
  return results;
}

/** Runs a story to its end, and returns which of its steps fail. */
function runWholeStory(sandbox: SandboxState): FieldProblem[] {
  let requests = 0;
  const hasRoomFor = ({ request }: StoryStep) => {
    if (request !== undefined) requests += request.repeat ?? 1;
    return requests <= maxRequests;
  };

  const problems: FieldProblem[] = [];
  for (const result of runStory(sandbox, hasRoomFor)) {
    // A step of the timeline that ran meanwhile has a problem of its own.
    const { differences, failure, performed, response } = result;
    const step = ["story", result.number - 1];
    if (failure !== null) problems.push({ code: "step_fails", field: step, message: failure.message });
    if (differences.length === 0) continue;

    const rejected = rejectionProblem(performed);
    if (rejected !== undefined) {
      // The whole step is rejected, not only what it expects.
      problems.push({ code: "step_fails", field: step, ...rejected });
      continue;
    }
    const hint = response === null ? undefined : `the request results in ${response.outcome}`;
    for (const difference of differences) {
      const message = differenceText(difference);
      problems.push({ code: "step_fails", field: difference.field, message, hint });
    }
  }
  return problems;
}

/** What is wrong with the result of a timeline step, if anything. */
function problemOfTimelineStep(result: TimelineResult): FieldProblem | undefined {
  const field = ["timeline", result.index];
  const rejected = rejectionProblem(result.performed);
  const isExpected = result.step.expect !== undefined;
  if (rejected !== undefined && !isExpected) return { code: "step_fails", field, ...rejected };

  const [difference] = result.differences;
  if (difference === undefined) return undefined;
  return { code: "step_fails", field: difference.field, message: differenceText(difference) };
}

/** The problem of a step whose action is rejected. */
function rejectionProblem(
  performed: ActionResult | null,
): Pick<FieldProblem, "message" | "hint"> | undefined {
  const error = performed?.error ?? null;
  if (error === null) return undefined;
  const message = `the step is rejected: ${error.message}`;
  return { message, hint: `if this is intended, write expect: { error: ${error.code} }` };
}

/** What a scenario has that is valid and usually a mistake, by its kind: steps that fail, and what `warningsOf` finds in its fields. */
export function scenarioWarnings(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  startOptions: StartOptions = {},
) {
  const failingSteps = dryRunProblems({ scenario, name }, startOptions);
  return { failingSteps, ...warningsOf(scenario) };
}
