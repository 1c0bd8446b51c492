import { storySender } from "../../api/story-sender.js";
import { placeInScenario } from "../../node/dry-run.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import { redactKeys } from "../../rules/redact.js";
import { snakeCase } from "../../rules/schema/json.js";
import { pathText } from "../../rules/schema/shape.js";
import { escapeControls, printable } from "../../rules/terminal-text.js";
import { isAsExpected, type PlayedStep } from "../../sandbox/steps.js";
import { runStory, type StepProblem, stepProblems } from "../../sandbox/story/run-step.js";
import { stepJson } from "../../sandbox/story/step-view.js";
import { viewClock } from "../../sandbox/views.js";
import type { FoundPlace } from "../../scenario/parse-scenario.js";
import { formatProblem } from "../../scenario/problems.js";
import type * as flag from "../flags.js";
import { startNamed } from "../open-scenario.js";
import { actionLine, stepLine } from "../serve/log.js";
import { type Palette, type Style, shortTime } from "../terminal.js";

interface StoryVerdict {
  readonly name: string;
  readonly passed: boolean;
  readonly seed: number;
  readonly startedAt: string;
  /** Whether every run starts at that time. */
  readonly isPinned: boolean;
  /** The steps that ran; the last one may have failed. */
  readonly results: readonly PlayedStep[];
  readonly stepCount: number;
  readonly problems: readonly PlacedProblem[];
  readonly durationMs: number;
}

/** Runs the story of a scenario as a test, in a separate sandbox whose clock only the story moves. */
export async function verdictOn(
  loaded: LoadedScenario,
  flags: flag.SandboxFlags,
  cwd: string,
): Promise<StoryVerdict> {
  const { name, scenario } = loaded;
  const sandbox = startNamed(loaded, { ...flags, frozen: true });
  const { platform, clock, seed, story } = sandbox;
  const stepCount = story.steps.length;
  const started = platform.stopwatch();
  const startedAt = viewClock(clock).now;
  const results = runStory(sandbox, storySender(sandbox));
  const last = results.at(-1);
  const problems = last === undefined ? [] : await placeProblems(last, name, cwd);
  return {
    name,
    // A scenario without a story tests nothing.
    passed: stepCount > 0 && problems.length === 0,
    seed,
    startedAt,
    isPinned: flags.now !== undefined || scenario.clock?.now !== undefined,
    results,
    stepCount,
    problems,
    durationMs: platform.stopwatch() - started,
  };
}

export interface PlacedProblem extends StepProblem {
  /** `undefined` if it is in none of the user's files. */
  readonly place: FoundPlace | undefined;
}

export function placeProblems(result: PlayedStep, scenario: string, cwd: string): Promise<PlacedProblem[]> {
  return Promise.all(
    stepProblems(result).map(async (one) => ({
      ...one,
      place: await placeInScenario(scenario, one.path, cwd),
    })),
  );
}

/** Returns a verdict as JSON; the caller shortens keys. */
export function verdictJson(verdict: StoryVerdict): unknown {
  const { isPinned: _, results, problems, durationMs, ...shown } = verdict;
  const { length } = results;
  return snakeCase({
    ...shown,
    problems: shown.stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    notReached: shown.stepCount - length,
    steps: results.map((result) => judgedJson(result, result.number === length ? problems : [])),
    durationMs: Math.round(durationMs * 10) / 10,
  });
}

function judgedJson(result: PlayedStep, problems: readonly PlacedProblem[]) {
  const placed = problems.map(({ message: _, path, place, ...difference }) => ({
    ...difference,
    path: pathText(path),
    place: place === undefined ? null : { file: place.file ?? null, line: place.line, column: place.column },
  }));
  return {
    ...stepJson(result),
    passed: problems.length === 0,
    differences: placed.filter(({ at }) => at !== null),
    place: placed[0]?.place ?? null,
  };
}

/** Returns a verdict as text: the steps, the problems and a summary. `quiet` leaves out what passed. */
export function verdictText(given: StoryVerdict, style: Style, quiet: boolean): string {
  const verdict = { ...given, name: escapeControls(given.name) };
  if (verdict.passed && quiet) return "";
  const lines = [
    ...(quiet || verdict.stepCount === 0 ? [] : [...stepTable(verdict, style), ""]),
    ...verdict.problems.flatMap((problem) => [problemText(problem, verdict), ""]),
    summary(verdict, style.palette),
    "",
  ];
  return redactKeys(lines.join("\n"));
}

const marks = {
  passed: { sign: "✓", word: "passed", color: "green" },
  failed: { sign: "✗", word: "FAILED", color: "red" },
  done: { sign: " ", word: "", color: "dim" },
} as const;

// An action must succeed even without an expectation; a request may end in any way.
function markOf(result: PlayedStep): keyof typeof marks {
  if (!isAsExpected(result)) return "failed";
  return result.step.expect !== undefined || result.performed !== null ? "passed" : "done";
}

function stepTable({ name, seed, startedAt, results }: StoryVerdict, style: Style): string[] {
  const { palette, isTerminal } = style;
  const rows = results.flatMap((result) => {
    const { sign, word, color } = marks[markOf(result)];
    const number = String(result.number).padStart(String(result.of).length);
    const line = stepLine(result, palette);
    const timeline = result.timeline.map((one) => `in between, at ${shortTime(one.at)}: ${actionLine(one)}`);
    const mark = isTerminal ? sign : word;
    return [[number, mark && palette[color](mark), line], ...timeline.map((text) => ["", "", text])];
  });
  return [
    `${palette.bold(name)}  ${palette.dim(`seed ${seed}, from ${shortTime(startedAt)}`)}`,
    ...alignColumns(rows).map((line) => `  ${line}`),
  ];
}

function problemText({ message, path, place }: PlacedProblem, { name, results }: StoryVerdict): string {
  // Without a place, the file and the field must do.
  const text = formatProblem({
    ...place,
    file: place?.file ?? name,
    path: pathText(path),
    message: `step ${results.length}: ${message}`,
  });
  return printable(text);
}

function summary(verdict: StoryVerdict, palette: Palette): string {
  const { name, passed, results, stepCount, durationMs, isPinned, startedAt } = verdict;
  if (stepCount === 0) {
    return palette.red(
      `${name}: the scenario has no story, so there is nothing to verify. Add story: [ … ].`,
    );
  }
  const took = `(${Math.max(1, Math.round(durationMs))} ms)`;
  if (passed) {
    const expectations = results.filter((result) => markOf(result) === "passed").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all passed ${took}`);
  }
  const left = stepCount - results.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  const failed = palette.red(`${name}: step ${results.length} of ${stepCount} failed${rest} ${took}`);
  if (isPinned) return failed;
  return `${failed}\nThe story started at the real time. To repeat this run, add --now ${shortTime(startedAt)}. To always start at the same time, set clock: { now: … } in the scenario.`;
}
