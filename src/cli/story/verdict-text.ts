import { redactKeys } from "../../domain/redact.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import { isAsExpected, type StepResult } from "../../sandbox/story/story.js";
import { formatProblem } from "../../scenario/problems/scenario-error.js";
import { pathText } from "../../scenario/problems/scenario-problem.js";
import { narrowExcerpt } from "../../scenario/read/source.js";
import { type Palette, shortTime } from "../terminal.js";
import type { PlacedProblem } from "./place-problems.js";
import { stepLine, timelineLine } from "./step-line.js";
import type { StoryVerdict } from "./verdict.js";

/** How a verdict is printed. */
export interface VerdictStyle {
  readonly palette: Palette;
  /** Whether signs stand for words. */
  readonly isTerminal: boolean;
  readonly width: number;
  /** Whether only what failed is printed. */
  readonly quiet: boolean;
}

/** A verdict for people: the steps, the problems, and a line that sums up; ends with a line end. */
export function verdictText(verdict: StoryVerdict, style: VerdictStyle): string {
  if (verdict.passed && style.quiet) return "";
  const lines = [
    ...(style.quiet || verdict.stepCount === 0 ? [] : [...stepTable(verdict, style), ""]),
    ...verdict.problems.flatMap((problem) => [problemText(problem, verdict, style), ""]),
    summary(verdict, style.palette),
    "",
  ];
  return redactKeys(lines.join("\n"));
}

/** The last line of several verdicts. */
export function totalText(verdicts: readonly { readonly passed: boolean }[], palette: Palette): string {
  const failed = verdicts.filter(({ passed }) => !passed).length;
  const paint = failed === 0 ? palette.green : palette.red;
  const outcome = failed === 0 ? "all hold" : `${failed} ${failed === 1 ? "does" : "do"} not hold`;
  return `${paint(`${pluralize(verdicts.length, "scenario")}: ${outcome}`)}\n`;
}

const marks = {
  holds: { sign: "✓", word: "holds", colour: "green" },
  fails: { sign: "✗", word: "FAILS", colour: "red" },
  done: { sign: " ", word: "", colour: "dim" },
} as const;

// An action is expected to be done even where the step does not say so; a request may end in any way.
function markOf(result: StepResult): keyof typeof marks {
  if (!isAsExpected(result)) return "fails";
  return result.step.expect !== undefined || result.performed !== null ? "holds" : "done";
}

function stepTable({ name, seed, startedAt, results }: StoryVerdict, style: VerdictStyle): string[] {
  const { palette, isTerminal, width } = style;
  const rows = results.flatMap((result) => {
    const mark = marks[markOf(result)];
    const number = String(result.number).padStart(String(result.of).length);
    const line = stepLine(result, palette, { width: width - 14 });
    const timeline = result.timeline.map((one) => `meanwhile, at ${shortTime(one.at)}: ${timelineLine(one)}`);
    return [
      { mark, cells: [number, isTerminal ? mark.sign : mark.word, line] },
      ...timeline.map((text) => ({ mark, cells: ["", "", text] })),
    ];
  });
  const table = alignColumns(
    rows.map(({ cells }) => cells),
    (text, row, column) => (column === 1 ? palette[rows[row]?.mark.colour ?? "dim"](text) : text),
  );
  return [
    `${palette.bold(name)}  ${palette.dim(`seed ${seed}, from ${shortTime(startedAt)}`)}`,
    ...table.map((line) => `  ${line}`),
  ];
}

function problemText(
  { message, path, place }: PlacedProblem,
  { name, results }: StoryVerdict,
  { isTerminal, width }: VerdictStyle,
): string {
  // In a line that the terminal breaks the caret would stand under nothing. Two columns are the indent.
  const excerpt =
    place && isTerminal ? narrowExcerpt({ text: place.source, caret: place.caret }, width - 2) : undefined;
  // Without a place the file and the field have to do.
  return formatProblem({
    ...place,
    ...(excerpt && { source: excerpt.text, caret: excerpt.caret }),
    file: place?.file ?? name,
    path: pathText(path),
    message: `step ${results.length}: ${message}`,
  });
}

function summary(verdict: StoryVerdict, palette: Palette): string {
  const { name, passed, results, stepCount, durationMs, isPinned, startedAt } = verdict;
  if (stepCount === 0) {
    return palette.red(`${name}: the scenario has no story, so nothing is proved. Write one: story: [ … ].`);
  }
  const took = `(${Math.max(1, Math.round(durationMs))} ms)`;
  if (passed) {
    const expectations = results.filter((result) => markOf(result) === "holds").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all hold ${took}`);
  }
  const left = stepCount - results.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  const failed = palette.red(`${name}: step ${results.length} of ${stepCount} fails${rest} ${took}`);
  if (isPinned) return failed;
  return `${failed}\nThe story began at the real time. To see the same again: --now ${shortTime(startedAt)}; to begin at the same time always: clock: { now: … } in the scenario.`;
}
