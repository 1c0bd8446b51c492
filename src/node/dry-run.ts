import { ownFieldDifferences } from "../api/story/expectation.js";
import { runStory } from "../api/story/run-story.js";
import { advanceClock } from "../sandbox/operations/clock-operations.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { ActionResult, StoryStep, TimelineResult } from "../sandbox/step-results.js";
import { pastStepProblem } from "../sandbox/timeline.js";
import type { FieldProblem } from "../scenario/problems.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
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
  const inStory = start();
  const resultsInStory = followTimeline(inStory);
  const storyProblems = runWholeStory(inStory);
  const succeededInStory = new Set<number>();
  for (const result of resultsInStory) {
    if (timelineProblem(result) === undefined) succeededInStory.add(result.index);
  }

  // A timeline step may depend on the story, so it must succeed in only one of both runs.
  const timelineProblems: FieldProblem[] = [];
  for (const result of timelineWithoutStory(start())) {
    if (succeededInStory.has(result.index)) continue;
    const failure = timelineProblem(result);
    if (failure !== undefined) timelineProblems.push(failure);
  }
  return [...timelineProblems, ...storyProblems];
}

/** Runs the timeline of a sandbox to its last step, and returns the results. */
function timelineWithoutStory(sandbox: SandboxState): readonly TimelineResult[] {
  const results = followTimeline(sandbox);
  const last = sandbox.timeline.steps.at(-1);
  // The scenario of a running sandbox has steps that fail because of its earlier changes. They do not run.
  if (last === undefined || isSnapshot(sandbox.scenario)) return results;
  advanceClock(sandbox, Math.max(0, last.at - sandbox.clock.now()));
  return results;
}

/** Whether a scenario was made from a sandbox that has responded to requests. */
function isSnapshot({ requests_responded: requests }: SandboxState["scenario"]): boolean {
  return requests !== undefined;
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
        problems.push({ code: "step_fails", field: stepField(field), ...rejected });
      }
    }
  }
  return problems;
}

/** The step that a field belongs to: `story[3]` of `story[3].expect.status`. */
function stepField(field: FieldProblem["field"]): FieldProblem["field"] {
  return field.slice(0, 2);
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
