import type { AdviceLevel } from "../../spec/advice.js";
import { escapeControls } from "../../spec/printable.js";
import { timesOf } from "../plain-text.js";
import type { Report } from "../report-shape.js";
import type { UnmetThreshold } from "../thresholds.js";

const commandOf: Readonly<Record<AdviceLevel, string>> = {
  error: "error",
  warning: "warning",
  note: "notice",
};

/** Returns advice and unmet thresholds as GitHub workflow commands, which its runner shows as annotations. */
export function githubAnnotations({ advice }: Report, failures: readonly UnmetThreshold[]): string {
  const lines = [
    ...advice.map(
      ({ id, level, count, meaning, whatToDo }) =>
        `::${commandOf[level]} title=svc-sandbox ${id}::${text(`${timesOf({ id, count })}: ${meaning} ${whatToDo}`)}`,
    ),
    ...failures.map(({ threshold, sentence }) => `::error title=svc-sandbox ${threshold}::${text(sentence)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

// A line break ends a command, and a percent sign starts an escape.
function text(plain: string): string {
  return escapeControls(plain).replaceAll("%", "%25");
}
