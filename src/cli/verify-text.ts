import { redactKeys } from "../domain/redact.js";
import { alignColumns, pluralize } from "../report/plain-text.js";
import type { FoundPlace } from "../scenario/parse-scenario.js";
import { formatProblem } from "../scenario/problems/scenario-error.js";
import { pathText } from "../scenario/problems/scenario-problem.js";
import { narrowExcerpt } from "../scenario/read/source.js";
import type { Palette } from "./palette.js";
import { meanwhileLines, shortTime, stepLine } from "./step-line.js";
import type { StepProblem } from "./step-places.js";
import type { StoryVerdict } from "./story-verdict.js";
import { isAsExpected, type TellingStep } from "./tell-step.js";

/** How a verdict is printed. */
export interface VerdictStyle {
  readonly palette: Palette;
  /** Whether signs stand for words. */
  readonly isTerminal: boolean;
  readonly width: number;
  /** Whether only what failed is printed. */
  readonly quiet: boolean;
}

/** What became of a story, for people: its steps, what is wrong, and a line that sums it up; ends with a line end. */
export function verdictText(verdict: StoryVerdict, style: VerdictStyle): string {
  if (verdict.passed && style.quiet) return "";
  const lines = [
    ...(style.quiet || verdict.stepCount === 0 ? [] : [...stepLines(verdict, style), ""]),
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

type Mark = "holds" | "fails" | "done";

const signs: Readonly<Record<Mark, string>> = { holds: "✓", fails: "✗", done: " " };
const words: Readonly<Record<Mark, string>> = { holds: "holds", fails: "FAILS", done: "" };

function stepLines({ name, seed, startedAt, steps }: StoryVerdict, style: VerdictStyle): string[] {
  const { palette, isTerminal, width } = style;
  const paintOf = { holds: palette.green, fails: palette.red, done: palette.dim };
  const rows = steps.flatMap((told) => {
    const mark = markOf(told);
    const sign = (isTerminal ? signs : words)[mark];
    const own = [
      String(told.number).padStart(String(told.of).length),
      sign,
      stepLine(told, width - 14, palette),
    ];
    return [{ mark, cells: own }, ...meanwhileLines(told).map((text) => ({ mark, cells: ["", "", text] }))];
  });
  const table = alignColumns(
    rows.map(({ cells }) => cells),
    (text, row, column) => (column === 1 ? paintOf[rows[row]?.mark ?? "done"](text) : text),
  );
  return [
    `${palette.bold(name)}  ${palette.dim(`seed ${seed}, from ${shortTime(startedAt)}`)}`,
    ...table.map((line) => `  ${line}`),
  ];
}

// An action is expected to be done even where the step does not say so; a request may end as it likes.
function markOf(told: TellingStep): Mark {
  if (!isAsExpected(told)) return "fails";
  return told.step.expect !== undefined || told.performed !== null ? "holds" : "done";
}

function problemText(
  { message, path, place }: StepProblem,
  { name, steps }: StoryVerdict,
  { isTerminal, width }: VerdictStyle,
): string {
  const { number } = steps.at(-1) as TellingStep;
  // In a line that the terminal breaks the caret would stand under nothing. Two columns are the indent.
  const shown = place && isTerminal ? { ...place, ...narrowedPlace(place, width - 2) } : place;
  // Without a place the file and the field have to do.
  return formatProblem({
    ...shown,
    file: place?.file ?? name,
    path: pathText(path),
    message: `step ${number}: ${message}`,
  });
}

function narrowedPlace({ source, caret }: FoundPlace, width: number) {
  const excerpt = narrowExcerpt({ text: source, caret }, width);
  return { source: excerpt.text, caret: excerpt.caret };
}

function summary(verdict: StoryVerdict, palette: Palette): string {
  const { name, passed, steps, stepCount, durationMs, isPinned, startedAt } = verdict;
  if (stepCount === 0) {
    return palette.red(
      `${name}: the scenario has no story, so that nothing is proved. Write one: story: [ … ].`,
    );
  }
  const took = `(${Math.max(1, Math.round(durationMs))} ms)`;
  if (passed) {
    const expectations = steps.filter((told) => markOf(told) === "holds").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all hold ${took}`);
  }
  const left = stepCount - steps.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  const failed = palette.red(`${name}: step ${steps.length} of ${stepCount} fails${rest} ${took}`);
  if (isPinned) return failed;
  return `${failed}\nThe story began at the real time. To see the same again: --now ${shortTime(startedAt)}; to begin at the same time always: clock: { now: … } in the scenario.`;
}
