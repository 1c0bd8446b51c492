import { runStory } from "../api/story/run-story.js";
import { stepView } from "../api/story/summarize.js";
import type { OpenedScenario } from "../node/files/scenario-files.js";
import { startInNode } from "../node/platform.js";
import { alignColumns, pluralize } from "../report/plain-text.js";
import { oneSafeLine, safeOutput } from "../rules/terminal-text.js";
import { shortTime } from "../rules/time.js";
import {
  allDifferences,
  differenceText,
  isAsExpected,
  type PlayedStep,
  type StepDifference,
  viewDifference,
} from "../sandbox/steps.js";
import { viewClock } from "../sandbox/views.js";
import { type Locate, type ShownPlace, showPlace } from "../scenario/places.js";
import { formatProblem } from "../scenario/problems.js";
import { type FieldPath, pathText } from "../schema/shape.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { actionLine, stepLine } from "./log.js";
import type { SandboxFlags } from "./shared-flags.js";
import type { Palette, Style } from "./terminal.js";

/** Why a step is not as its scenario expects, and where in its file. */
export interface StepProblem {
  readonly message: string;
  readonly field: FieldPath;
  /** `undefined` if no text has the field. */
  readonly place: ShownPlace | undefined;
  /** `undefined` for a step that could not run. */
  readonly difference: StepDifference | undefined;
}

/** What is not as expected in a step, and in the steps of the timeline that ran during it. */
export function problemsOfStep(result: PlayedStep, { locate }: { readonly locate: Locate }): StepProblem[] {
  const placeOf = (field: FieldPath) => {
    const place = locate(field);
    return place && showPlace(place);
  };
  const problems: StepProblem[] = [];
  const { failure } = result;
  if (failure !== null) {
    const field = ["story", result.number - 1];
    problems.push({ message: failure.message, field, place: placeOf(field), difference: undefined });
  }
  for (const difference of allDifferences(result)) {
    const { field } = difference;
    problems.push({ message: differenceText(difference), field, place: placeOf(field), difference });
  }
  return problems;
}

/** What came of a story that ran as a test. */
interface StoryTest {
  readonly name: string;
  readonly passed: boolean;
  readonly seed: number;
  readonly startedAt: string;
  /** The steps that ran; the last one may have failed. */
  readonly results: readonly PlayedStep[];
  readonly stepCount: number;
  /** The problems of the step that failed. */
  readonly problems: readonly StepProblem[];
  readonly durationMs: number;
}

/** Runs the story of a scenario as a test, in a separate sandbox whose clock only the story moves. Resolves to its result as text and as JSON. */
export async function testStory(
  opened: OpenedScenario,
  flags: SandboxFlags & { readonly quiet?: boolean },
  style: Style,
) {
  const { name } = opened.loaded;
  const sandbox = startInNode(opened.loaded, { ...flags, frozen: true });
  const { platform, clock, seed, story } = sandbox;
  const stepCount = story.steps.length;
  const started = platform.stopwatch();
  const startedAt = viewClock(clock).now;

  const results: PlayedStep[] = [];
  let problems: readonly StepProblem[] = [];
  for (const result of runStory(sandbox)) {
    results.push(result);
    if (isAsExpected(result)) continue;
    problems = problemsOfStep(result, await opened.places());
    // Later steps depend on it.
    break;
  }

  const test: StoryTest = {
    name,
    // A scenario without a story tests nothing.
    passed: stepCount > 0 && problems.length === 0,
    seed,
    startedAt,
    results,
    stepCount,
    problems,
    durationMs: platform.stopwatch() - started,
  };
  return {
    passed: test.passed,
    text: storyTestText(test, style, flags.quiet === true),
    json: storyTestJson(test),
  };
}

function storyTestJson(test: StoryTest): unknown {
  const { name, passed, seed, startedAt, results, stepCount } = test;
  const steps: unknown[] = [];
  for (const result of results) {
    const isLast = result.number === results.length;
    steps.push(stepJson(result, isLast ? test.problems : []));
  }
  return membersToSnakeCase({
    name,
    passed,
    seed,
    startedAt,
    stepCount,
    problems: stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    notReached: stepCount - results.length,
    steps,
    durationMs: Math.round(test.durationMs * 10) / 10,
  });
}

function stepJson(result: PlayedStep, problems: readonly StepProblem[]) {
  const placeJson = (place: ShownPlace | undefined) => {
    return place && { file: place.file ?? null, line: place.line, column: place.column };
  };
  const differences: unknown[] = [];
  for (const problem of problems) {
    const { difference } = problem;
    if (difference === undefined) continue;
    differences.push({
      ...viewDifference(difference),
      field: pathText(difference.field),
      place: placeJson(problem.place) ?? null,
    });
  }
  const [first] = problems;
  return {
    ...stepView(result),
    passed: problems.length === 0,
    differences,
    place: placeJson(first?.place) ?? null,
  };
}

/** A test of a story as text: the steps, the problems and a summary. `quiet` leaves out what passed. */
function storyTestText(test: StoryTest, style: Style, quiet: boolean): string {
  if (test.passed && quiet) return "";
  const name = oneSafeLine(test.name);

  const lines: string[] = [];
  if (!quiet && test.stepCount > 0) lines.push(...stepTable(name, test, style), "");
  for (const problem of test.problems) {
    lines.push(problemText(problem, name, test.results.length), "");
  }
  lines.push(conclusionText(name, test, style.palette), "");
  return lines.join("\n");
}

/** How a step is marked: by a sign on a terminal, by a word elsewhere. */
const marks = {
  passed: { sign: "✓", word: "passed", color: "green" },
  failed: { sign: "✗", word: "FAILED", color: "red" },
  done: { sign: " ", word: "", color: "dim" },
} as const;

/** The mark of a step that has run. */
function markOf(result: PlayedStep): keyof typeof marks {
  if (!isAsExpected(result)) return "failed";
  if (result.step.expect !== undefined) return "passed";
  // An action must succeed even without an expectation; a request may end in any way.
  return result.performed === null ? "done" : "passed";
}

function stepTable(name: string, test: StoryTest, style: Style): string[] {
  const { palette, isTerminal } = style;
  const rows: string[][] = [];
  for (const result of test.results) {
    const { sign, word, color } = marks[markOf(result)];
    const number = String(result.number).padStart(String(result.of).length);
    const mark = isTerminal ? sign : word;
    // Nothing gets no color.
    const paintedMark = mark === "" ? "" : palette[color](mark);
    rows.push([number, paintedMark, stepLine(result, palette)]);
    for (const step of result.timeline) {
      rows.push(["", "", `in between, at ${shortTime(step.at)}: ${actionLine(step)}`]);
    }
  }
  const start = palette.dim(`seed ${test.seed}, from ${shortTime(test.startedAt)}`);
  return [`${palette.bold(name)}  ${start}`, ...alignColumns(rows).map((line) => `  ${line}`)];
}

function problemText(problem: StepProblem, name: string, step: number): string {
  const { message, field, place } = problem;
  const text = formatProblem({
    ...place,
    // If the place is not known, the file and the field are shown.
    file: place?.file ?? name,
    field: pathText(field),
    message: `step ${step}: ${message}`,
  });
  return safeOutput(text);
}

/** The last line: whether the story passed, and how much of it ran. */
function conclusionText(name: string, test: StoryTest, palette: Palette): string {
  const { results, stepCount } = test;
  if (stepCount === 0) {
    return palette.red(
      `${name}: the scenario has no story, so there is nothing to verify. Add story: [ … ].`,
    );
  }

  const milliseconds = Math.max(1, Math.round(test.durationMs));
  const took = `(${milliseconds} ms)`;
  if (test.passed) {
    const expectations = results.filter((result) => markOf(result) === "passed").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all passed ${took}`);
  }

  const left = stepCount - results.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  return palette.red(`${name}: step ${results.length} of ${stepCount} failed${rest} ${took}`);
}
