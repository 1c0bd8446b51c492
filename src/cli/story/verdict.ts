import { coreSender } from "../../api/core-sender.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { errorCodeOf } from "../../sandbox/story/differences.js";
import { runStory } from "../../sandbox/story/run-step.js";
import type { StepResult } from "../../sandbox/story/story.js";
import { pathText } from "../../scenario/problems/scenario-problem.js";
import type { WorldFlags } from "../flags.js";
import { openNamed } from "../open-scenario.js";
import { type PlacedProblem, placeProblems } from "./place-problems.js";

/** The outcome of a story that ran as a test. */
export interface StoryVerdict {
  readonly name: string;
  /** False for a scenario without a story: it proves nothing. */
  readonly passed: boolean;
  readonly seed: number;
  /** What the clock showed at the start; ISO 8601. */
  readonly startedAt: string;
  /** Whether every run starts at that time. */
  readonly isPinned: boolean;
  /** The steps that ran; the last one is the one that failed. */
  readonly results: readonly StepResult[];
  readonly stepCount: number;
  readonly problems: readonly PlacedProblem[];
  readonly durationMs: number;
}

/** Runs the story of a scenario as a test, in a world of its own whose clock stands still until the story moves it. */
export async function verdictOn(
  loaded: LoadedScenario,
  flags: WorldFlags,
  cwd: string,
): Promise<StoryVerdict> {
  const world = openNamed(loaded, { ...flags, frozen: true });
  const { platform, clock, seed, story } = world;
  const started = platform.stopwatch();
  const startedAt = new Date(clock.now()).toISOString();
  const results = await runStory(world, coreSender(world));
  const last = results.at(-1);
  const problems = last === undefined ? [] : await placeProblems(last, loaded.name, cwd);
  return {
    name: loaded.name,
    passed: story.steps.length > 0 && problems.length === 0,
    seed,
    startedAt,
    isPinned: flags.now !== undefined || loaded.scenario.clock?.now !== undefined,
    results,
    stepCount: story.steps.length,
    problems,
    durationMs: platform.stopwatch() - started,
  };
}

/** A verdict for machines; keys are shortened where it is printed. */
export function verdictJson(verdict: StoryVerdict): Record<string, unknown> {
  const { name, passed, seed, startedAt, results, stepCount, problems, durationMs } = verdict;
  return {
    name,
    passed,
    problems: stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    seed,
    started_at: startedAt,
    step_count: stepCount,
    not_reached: stepCount - results.length,
    steps: results.map((result, index) => stepJson(result, index === results.length - 1 ? problems : [])),
    duration_ms: Math.round(durationMs * 10) / 10,
  };
}

function stepJson(result: StepResult, problems: readonly PlacedProblem[]): Record<string, unknown> {
  const { number, kind, say, request, answer, performed, failure, timeline, now } = result;
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
    meanwhile: timelineJson(timeline),
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

/** The steps of the timeline that happened during a step of the story, for machines. */
export function timelineJson(timeline: StepResult["timeline"]) {
  return timeline.map(({ index, at, performed: { refusal } }) => ({
    timeline_step: index + 1,
    at,
    refusal: refusal?.code ?? null,
    message: refusal?.message ?? null,
  }));
}

function placeJson(place: PlacedProblem["place"]) {
  return place === undefined ? null : { file: place.file ?? null, line: place.line, column: place.column };
}
