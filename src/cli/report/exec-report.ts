import { rerunCommand } from "../../report/curl-line.js";
import type { ReportFormat } from "../../report/render/layout.js";
import { conclusion, renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import type { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
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

  if (isPrinted && format === "json") printForProgram(run, failures, call);
  else printForPeople(run, { targets, failures, isPrinted }, call);
  return isWritten;
}

/** Programs read stderr to its end, which is the report. */
function printForProgram(run: ShownRun, failures: readonly SandboxError[], call: ReportCall): void {
  const { stderr } = call.io;
  for (const failure of failures) stderr.write(describeFailure(failure, { json: true }));
  stderr.write(redactPlainKeys(reportText(run, "json", call)));
}

/** Where the report of a run went. */
interface ReportDelivery {
  /** The files that were to have it. */
  readonly targets: readonly ReportTarget[];
  /** Why a file does not have it. */
  readonly failures: readonly SandboxError[];
  /** Whether it is on stderr. */
  readonly isPrinted: boolean;
}

/** Prints the report, or where it is, and what people need to know besides. */
function printForPeople(run: ShownRun, delivery: ReportDelivery, call: ReportCall): void {
  const { report, unmet, folder } = run;
  const { targets, failures, isPrinted } = delivery;
  const { flags, io } = call;
  const { quiet, format = "text" } = flags;
  const style = io.stderr.style();
  const sayLine = (line: string) => io.stderr.say(redactPlainKeys(`${line}\n`));

  if (isPrinted) io.stderr.write(redactPlainKeys(`\n${reportText(run, format, call, style)}`));
  else if (!quiet) sayLine(whereItIs(report, targets));

  // A report as text ends with the unmet thresholds.
  const reportHasUnmet = isPrinted && format === "text";
  if (!reportHasUnmet) {
    for (const { sentence } of unmet) sayLine(style.palette.red(sentence));
  }

  if (!quiet) {
    const mayLackRequests = report.requests === 0 || folder.uncountedSentences().length > 0;
    if (mayLackRequests) sayLine(whyMissing(run, call));
    for (const sentence of folder.notRemovedSentences()) sayLine(sentence);
  }

  if (runsOnGithub(io)) io.stderr.write(redactPlainKeys(githubAnnotations(report, unmet)));
  for (const failure of failures) io.stderr.say(redactPlainKeys(describeFailure(failure, flags)));
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

function whereItIs(report: Report, targets: readonly ReportTarget[]): string {
  const files = targets.map(({ file }) => (file === "-" ? "stdout" : quoteFile(file)));
  return `${conclusion(report)} The report is in ${listed(files, "and")}.`;
}

/** What may be the reason if requests are missing. */
function whyMissing({ folder }: ShownRun, { io, flags }: ReportCall): string {
  const uncounted = folder.uncountedSentences();
  return uncounted.length > 0 ? uncounted.join(" ") : whyNoRequest(io, flags);
}
