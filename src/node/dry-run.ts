import { fieldDifferences } from "../api/story/expectation.js";
import { runStory } from "../api/story/run-story.js";
import { advanceClock } from "../sandbox/operations/clock-operations.js";
import { runDue } from "../sandbox/operations/run-due.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { ActionResult, TimelineResult } from "../sandbox/step-results.js";
import type { StoryStep } from "../sandbox/steps.js";
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
  const isClockSet = options.now !== undefined || scenario.clock?.now !== undefined;
  if (!isClockSet) {
    const past = pastStepProblem(scenario, nodePlatform.time());
    if (past !== undefined) return [past];
  }

  const failed = failingSteps(() => startInNode({ scenario, name }, { ...options, frozen: true }));
  return failed.slice(0, maxProblems);
}

/**
 * Runs a scenario twice, and returns which steps fail: with its story, which moves the clock, and without it. `start` starts the
 * scenario with a frozen clock.
 */
export function failingSteps(start: () => SandboxState): FieldProblem[] {
  // With its story.
  const inStory = start();
  const timelineInStory = new FollowedTimeline(inStory);
  const storyProblems = runWholeStory(inStory);

  // Without it.
  const alone = start();
  const timelineAlone = new FollowedTimeline(alone);
  // The scenario of a running sandbox has steps that fail because of its earlier changes. They do not run.
  if (!isSnapshot(alone.scenario)) runToLastStep(alone);

  // A step of the timeline may depend on the story: it fails only if it fails in both runs.
  const problems: FieldProblem[] = [];
  for (const result of timelineAlone.results) {
    const problem = problemOfTimelineStep(result);
    if (problem !== undefined && !timelineInStory.hasSucceeded(result.index)) problems.push(problem);
  }
  return [...problems, ...storyProblems];
}

/** The results of a timeline's steps in one run, from the start of its sandbox on. */
class FollowedTimeline {
  readonly results: TimelineResult[] = [];

  constructor(sandbox: SandboxState) {
    sandbox.journal.subscribe((event) => {
      if (event.type === "timeline.step") this.results.push(event.result);
    });
    // What is due at the start.
    runDue(sandbox);
  }

  /** Whether the step of this index has run without a problem. */
  hasSucceeded(index: number): boolean {
    return this.results.some(
      (result) => result.index === index && problemOfTimelineStep(result) === undefined,
    );
  }
}

/** Moves the clock of a sandbox to the last step of its timeline. */
function runToLastStep(sandbox: SandboxState): void {
  const last = sandbox.timeline.steps.at(-1);
  if (last !== undefined) {
    const by = Math.max(0, last.at - sandbox.clock.now());
    advanceClock(sandbox, { by }, { isScripted: true });
  }
}

/** Whether a scenario was made from a sandbox that has responded to requests. */
function isSnapshot({ requests_responded: requests }: SandboxState["scenario"]): boolean {
  return requests !== undefined;
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
    const differences = fieldDifferences(result).filter(({ field }) => field[0] === "story");
    if (differences.length === 0) continue;

    const rejected = rejectionProblem(result.performed);
    if (rejected !== undefined) {
      // The whole step is rejected, not only what it expects.
      problems.push({ code: "step_fails", field: ["story", result.number - 1], ...rejected });
      continue;
    }
    const { response } = result;
    const hint = response === null ? undefined : `the request results in ${response.outcome}`;
    for (const { field, message } of differences) problems.push({ code: "step_fails", field, message, hint });
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
