import type { SandboxError } from "../domain/errors.js";
import { errorCodeOf } from "../sandbox/story/difference.js";
import { ScenarioError } from "../scenario/problems/scenario-error.js";
import { pathText } from "../scenario/problems/scenario-problem.js";
import type { StepProblem } from "./step-places.js";
import type { StoryVerdict } from "./story-verdict.js";
import type { TellingStep } from "./tell-step.js";

/** What became of a story, for machines; keys are shortened where it is printed. */
export function verdictJson(verdict: StoryVerdict): Record<string, unknown> {
  const { name, passed, seed, startedAt, steps, stepCount, problems, durationMs } = verdict;
  return {
    name,
    passed,
    problems: stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    seed,
    started_at: startedAt,
    step_count: stepCount,
    not_reached: stepCount - steps.length,
    steps: steps.map((told, index) => stepJson(told, index === steps.length - 1 ? problems : [])),
    duration_ms: Math.round(durationMs * 10) / 10,
  };
}

/** What became of a scenario that could not be read, for machines: the problems as `validate` gives them. */
export function unreadableJson(name: string, error: SandboxError): Record<string, unknown> {
  const problems =
    error instanceof ScenarioError ? error.problems : [{ code: error.code, message: error.message }];
  return { name, passed: false, problems, steps: [] };
}

function stepJson(told: TellingStep, problems: readonly StepProblem[]): Record<string, unknown> {
  const { number, kind, say, request, answer, performed, failure, meanwhile, now } = told;
  return {
    number,
    kind,
    passed: problems.length === 0,
    say,
    request: request && {
      method: request.method,
      path: request.path,
      key: request.key,
      times: request.times,
    },
    status: answer?.status ?? null,
    code: answer && errorCodeOf(answer),
    path_id: answer?.pathId ?? null,
    fault: answer?.fault ?? null,
    refusal: performed?.refusal?.code ?? null,
    failure,
    meanwhile: meanwhile.map(({ index, at, refusal, message }) => ({
      timeline_step: index + 1,
      at,
      refusal,
      message,
    })),
    now,
    differences: problems
      .filter(({ at }) => at !== null)
      .map(({ at, expected, found, path, place }) => ({
        at,
        expected,
        found,
        path: pathText(path),
        place: placeJson(place),
      })),
    place: placeJson(problems[0]?.place),
  };
}

function placeJson(place: StepProblem["place"]) {
  return place === undefined ? null : { file: place.file ?? null, line: place.line, column: place.column };
}
