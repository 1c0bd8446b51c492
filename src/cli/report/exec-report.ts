import type { ReportFormat } from "../../report/render/layout.js";
import { conclusion, renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import { rerunCommand } from "../../report/shell-words.js";
import { redactPlainKeys } from "../../rules/redact.js";
import { listed, quoteFile } from "../../schema/words.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import { runsOnGithub } from "../io.js";
import type { Style } from "../output/terminal.js";
import type { RunFolder } from "../run/run-folder.js";
import { whyNoRequest } from "../run/why-no-run.js";
import type { ServeFlags } from "../serve/serve-options.js";
import { githubAnnotations } from "./github-annotations.js";
import { type ReportTarget, writeTargets } from "./report-files.js";
import type { UnmetThreshold } from "./thresholds.js";

/** The flags that decide where the report goes. */
interface ReportFlags extends ServeFlags {
  readonly format?: ReportFormat;
}
type ReportCall = CommandCall<ReportFlags>;

/** What a run of the command has shown. */
interface ShownRun {
  readonly report: Report;
  readonly unmet: readonly UnmetThreshold[];
  readonly folder: RunFolder;
}

/** The flag that names the files of the report, and what they contain. */
export const reportFlag = { name: "--report", contents: "the report" };

/**
 * Writes the report of `exec` into its files, or prints it on stderr, with the lines next to it. Resolves to whether every file
 * could be written. If not, the report is on stderr.
 */
export async function deliverReport(
  run: ShownRun,
  targets: readonly ReportTarget[],
  call: ReportCall,
): Promise<boolean> {
  const { flags, io } = call;
  const { format = "text" } = flags;
  const textIn = (inFormat: ReportFormat) => reportText(run, inFormat, call);
  const failures = await writeTargets(targets, textIn, reportFlag, io);
  const isWritten = failures.length === 0;
  // A report that a file should have, and has not, must not be lost: it is printed also with --quiet.
  const isPrinted = !isWritten || (targets.length === 0 && !flags.quiet);

  if (isPrinted && format === "json") {
    // Programs read stderr to its end, which is the report.
    for (const failure of failures) io.stderr.write(describeFailure(failure, { json: true }));
    io.stderr.write(redactPlainKeys(reportText(run, "json", call)));
    return isWritten;
  }

  if (isPrinted) {
    io.stderr.write(redactPlainKeys(`\n${reportText(run, format, call, io.stderr.style())}`));
  }
  for (const line of linesBeside(run, targets, isPrinted, call)) io.stderr.say(redactPlainKeys(`${line}\n`));
  if (runsOnGithub(io)) io.stderr.write(redactPlainKeys(githubAnnotations(run.report, run.unmet)));
  for (const failure of failures) io.stderr.say(redactPlainKeys(describeFailure(failure, flags)));
  return isWritten;
}

/** The report in a format. Without a style, it has no colors and no width, as in files. */
function reportText(
  run: ShownRun,
  format: ReportFormat,
  call: ReportCall,
  style: Partial<Style> = {},
): string {
  const { args, clientCommand, io } = call;
  return renderReport(run.report, format, {
    failures: run.unmet.map(({ sentence }) => sentence),
    hint: `The command has sent no request. ${whyMissing(run, call)}`,
    certifyCommand: rerunCommand("certify", args, clientCommand, io.program),
    ...style,
  });
}

/** The lines that people read after the report, or in its place. */
function linesBeside(
  run: ShownRun,
  targets: readonly ReportTarget[],
  isPrinted: boolean,
  call: ReportCall,
): string[] {
  const { report, unmet, folder } = run;
  const { quiet, format = "text" } = call.flags;
  const lines: string[] = [];
  if (!isPrinted && !quiet) lines.push(whereItIs(report, targets));

  // A report as text already ends with the unmet thresholds.
  const hasUnmet = isPrinted && format === "text";
  const { palette } = call.io.stderr.style();
  if (!hasUnmet) lines.push(...unmet.map(({ sentence }) => palette.red(sentence)));
  if (quiet) return lines;

  const mayLackRequests = report.requests === 0 || folder.uncountedSentences().length > 0;
  if (mayLackRequests) lines.push(whyMissing(run, call));
  lines.push(...folder.notRemovedSentences());
  return lines;
}

function whereItIs(report: Report, targets: readonly ReportTarget[]): string {
  const files = targets.map(({ file }) => (file === "-" ? "stdout" : quoteFile(file)));
  return `${conclusion(report)} The report is in ${listed(files, "and")}.`;
}

/** What may be the reason if requests are missing. */
function whyMissing({ folder }: ShownRun, { io, flags }: ReportCall): string {
  const uncounted = folder.uncountedSentences();
  return uncounted.length > 0 ? uncounted.join(" ") : whyNoRequest(io, flags);
}
