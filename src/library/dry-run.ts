import { storySender } from "../api/story-sender.js";
import { advanceClock } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { Performed, TimelineResult } from "../sandbox/steps.js";
import { stepProblems, tryNextStep } from "../sandbox/story/run-step.js";
import type { ScenarioMistake } from "../scenario/problems.js";

const maxRequests = 5_000;

/** `open` starts the scenario with a frozen clock. */
export function dryRunScenario(open: () => SandboxState): ScenarioMistake[] {
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
  sandbox.history.subscribe((event) => {
    if (event.type === "timeline.step") results.push(event.result);
  });
  return results;
}

function runWholeStory(sandbox: SandboxState): ScenarioMistake[] {
  const failed: ScenarioMistake[] = [];
  const send = storySender(sandbox);
  let requests = 0;
  for (;;) {
    const { request } = sandbox.story.steps[sandbox.story.next] ?? {};
    requests += request === undefined ? 0 : (request.repeat ?? 1);
    const result = requests > maxRequests ? undefined : tryNextStep(sandbox, send);
    if (result === undefined) return failed;
    const { response, performed } = result;
    const rejected = rejectionOf(performed);
    const hint = response === null ? undefined : `the request results in ${response.pathId}`;
    for (const { at, path, message } of stepProblems(result)) {
      if (at?.startsWith("timeline")) continue;
      const place = rejected === undefined ? path : path.slice(0, 2);
      failed.push({ code: "step_fails", path: place, message, hint, ...rejected });
    }
  }
}

function failureOf({ index, step, performed, differences }: TimelineResult): ScenarioMistake | undefined {
  const path = ["timeline", index];
  const rejected = step.expect === undefined ? rejectionOf(performed) : undefined;
  if (rejected !== undefined) return { code: "step_fails", path, ...rejected };
  const [difference] = differences;
  if (difference === undefined) return undefined;
  const { expected, found } = difference;
  const message = `error: expected ${expected}, found ${found}`;
  return { code: "step_fails", path: [...path, "expect", "error"], message };
}

function rejectionOf(performed: Performed | null): Pick<ScenarioMistake, "message" | "hint"> | undefined {
  const rejection = performed?.rejection ?? null;
  if (rejection === null) return undefined;
  const hint = `if this is intended, write expect: { error: ${rejection.code} }`;
  return { message: `the step is rejected: ${rejection.message}`, hint };
}
