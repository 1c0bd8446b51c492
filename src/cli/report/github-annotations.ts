import { adviceCount } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import type { UnmetThreshold } from "./thresholds.js";

/** Returns advice and unmet thresholds as GitHub workflow commands, which its runner shows as annotations. */
export function githubAnnotations(report: Report, unmet: readonly UnmetThreshold[]): string {
  let lines = "";
  for (const advice of report.advice) {
    const level = advice.level === "note" ? "notice" : advice.level;
    const text = annotationText(`${adviceCount(advice)}: ${advice.meaning} ${advice.whatToDo}`);
    lines += `::${level} title=svc-sandbox ${advice.id}::${text}\n`;
  }
  for (const { title, sentence } of unmet) {
    lines += `::error title=svc-sandbox ${title}::${annotationText(sentence)}\n`;
  }
  return lines;
}

/** A text for a workflow command: a line break would end the command, and a percent sign starts an escape. */
function annotationText(plain: string): string {
  return oneSafeLine(plain).replaceAll("%", "%25");
}
