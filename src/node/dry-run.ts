import { ownFieldDifferences } from "../api/story/expectation.js";
import { runStory } from "../api/story/run-story.js";
import { advanceClock } from "../sandbox/operations/clock-operations.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { ActionResult, StoryStep, TimelineResult } from "../sandbox/step-results.js";
import { pastStepProblem } from "../sandbox/timeline.js";
import type { LoadedScenario } from "../scenario/parse-scenario.js";
import type { FieldProblem } from "../scenario/problems.js";
import { nodePlatform, startInNode } from "./platform.js";

/** The most problems that are shown. */
const maxProblems = 20;

/** The most requests of a dry run. */
const maxRequests = 5_000;

/** The steps that fail in the timeline and the story of a scenario. */
export function dryRunProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  options: StartOptions = {},
): FieldProblem[] {
  const hasSteps = scenario.timeline !== undefined || scenario.story !== undefined;
  if (!hasSteps) return [];
  if (options.now === undefined) {
    const past = pastStepProblem(scenario, nodePlatform.time());
    if (past !== undefined) return [past];
  }

  const failed = dryRunScenario(() => startInNode({ scenario, name }, { ...options, frozen: true }));
  return failed.slice(0, maxProblems);
}

/**
 * Runs a scenario twice, and returns which steps fail: with its story, which moves the clock, and without it. `start` starts the
 * scenario with a frozen clock.
 */
export function dryRunScenario(start: () => SandboxState): FieldProblem[] {
  // With its story.
  const withStory = start();
  const resultsInStory = followTimeline(withStory);
  const storyProblems = runWholeStory(withStory);
  const succeededInStory = new Set<number>();
  for (const result of resultsInStory) {
    if (timelineProblem(result) === undefined) succeededInStory.add(result.index);
  }

  // Without it, until the last step of the timeline.
  const withoutStory = start();
  const resultsAlone = followTimeline(withoutStory);
  const last = withoutStory.timeline.steps.at(-1);
  // Skipped for snapshots: earlier changes may have left timeline steps that fail.
  const isSnapshot = withoutStory.scenario.requests_responded !== undefined;
  if (last !== undefined && !isSnapshot) {
    advanceClock(withoutStory, Math.max(0, last.at - withoutStory.clock.now()));
  }

  // A timeline step may depend on the story, so it must succeed in only one of both runs.
  const timelineProblems: FieldProblem[] = [];
  for (const result of resultsAlone) {
    if (succeededInStory.has(result.index)) continue;
    const failure = timelineProblem(result);
    if (failure !== undefined) timelineProblems.push(failure);
  }
  return [...timelineProblems, ...storyProblems];
}

/** Collects the results of the timeline's steps, in a list that grows while the sandbox runs. */
function followTimeline(sandbox: SandboxState): readonly TimelineResult[] {
  const results: TimelineResult[] = [...sandbox.timeline.ranAtStart];
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
    const { response } = result;
    const rejected = rejectionProblem(result.performed);
    const hint = response === null ? undefined : `the request results in ${response.outcome}`;
    // A step of the timeline that ran meanwhile has a problem of its own.
    for (const { field, message } of ownFieldDifferences(result)) {
      if (rejected === undefined) {
        problems.push({ code: "step_fails", field, message, hint });
      } else {
        // The whole step is rejected, not only what it expects.
        problems.push({ code: "step_fails", field: field.slice(0, 2), ...rejected });
      }
    }
  }
  return problems;
}

/** What is wrong with the result of a timeline step, if anything. */
function timelineProblem(result: TimelineResult): FieldProblem | undefined {
  const field = ["timeline", result.index];
  const rejected = rejectionProblem(result.performed);
  const isExpected = result.step.expect !== undefined;
  if (rejected !== undefined && !isExpected) return { code: "step_fails", field, ...rejected };

  const [difference] = result.differences;
  if (difference === undefined) return undefined;
  const message = `error: expected ${difference.expected}, found ${difference.found}`;
  return { code: "step_fails", field: [...field, "expect", "error"], message };
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
