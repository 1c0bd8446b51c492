import { rerunCommand } from "../report/curl-line.js";
import type { ReportFormat } from "../report/render/layout.js";
import { adviceCount, conclusion, renderReport } from "../report/report-layout.js";
import type { Report } from "../report/report-shape.js";
import { type AdviceLevel, adviceLevels } from "../rules/advice.js";
import type { SandboxError } from "../rules/errors.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { listed, quoteFile } from "../schema/words.js";
import type { CommandCall } from "./command.js";
import { describeFailure } from "./exit-codes.js";
import { runsOnGithub } from "./io.js";
import { type ReportTarget, writeTargets } from "./output-files.js";
import { whyNoRequest } from "./run-client.js";
import type { RunFolder } from "./run-folder.js";
import type { ServeFlags } from "./shared-flags.js";
import type { Style } from "./terminal.js";

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
    io.stderr.write(redactPlainKeys(textIn("json")));
  } else printForPeople(run, { targets, failures, isPrinted }, call);
  return isWritten;
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
  else if (!quiet) {
    const files = targets.map(({ file }) => (file === "-" ? "stdout" : quoteFile(file)));
    sayLine(`${conclusion(report)} The report is in ${listed(files, "and")}.`);
  }

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

/** What may be the reason if requests are missing. */
function whyMissing({ folder }: ShownRun, { io, flags }: ReportCall): string {
  const uncounted = folder.uncountedSentences();
  return uncounted.length > 0 ? uncounted.join(" ") : whyNoRequest(io, flags);
}

/** What a report must reach. */
interface Thresholds {
  /** The lowest coverage in percent. Default: none. */
  readonly minCoverage?: number | undefined;
  /** The lowest level of advice that fails the run. Default: none. */
  readonly failOn?: AdviceLevel | undefined;
  /** Whether a report without a request fails. Default: false. */
  readonly needsRequests?: boolean | undefined;
}

interface UnmetThreshold {
  /** What is too little, or too much. */
  readonly kind: "requests" | "coverage" | "advice";
  /** The title of its annotation: the flag, such as `--min-coverage 80`. */
  readonly title: string;
  /** Why it is not reached. */
  readonly sentence: string;
}

/** The thresholds that a report does not reach. Of requests and coverage, only the first. */
export function unmetThresholds(report: Report, thresholds: Thresholds): UnmetThreshold[] {
  const { minCoverage = 0, failOn, needsRequests } = thresholds;
  const { percent, covered, promised } = report.coverage;
  const unmet: UnmetThreshold[] = [];

  // Requests may have come that each missed all endpoints.
  let missed = 0;
  for (const { outcome, count } of report.outcomes) {
    if (outcome === "404.unknown_path" || outcome === "405.method") missed += count;
  }
  // Without a request to an endpoint, the coverage is low anyway.
  if (needsRequests && missed === report.requests) {
    unmet.push(noRequests(report, thresholds));
  } else if (percent < minCoverage) {
    unmet.push({
      kind: "coverage",
      title: `--min-coverage ${minCoverage}`,
      sentence: `The coverage is ${percent}%, below the required ${minCoverage}%: ${promised - covered} of ${promised} promised outcomes are not covered.`,
    });
  }

  if (failOn === undefined) return unmet;
  const failing = adviceLevels.slice(adviceLevels.indexOf(failOn));
  const failingAdvice = report.advice.filter(({ level }) => failing.includes(level));
  if (failingAdvice.length > 0) {
    const ids = failingAdvice.map(({ id }) => id);
    unmet.push({
      kind: "advice",
      title: `--fail-on ${failOn}`,
      sentence: `--fail-on ${failOn} does not allow advice of level ${failing.join(" or ")}: ${ids.join(", ")}.`,
    });
  }
  return unmet;
}

/** The threshold that a request reaches an endpoint. It has the flag that asks for requests, if there is one. */
function noRequests(report: Report, thresholds: Thresholds): UnmetThreshold {
  const { minCoverage = 0, failOn } = thresholds;

  let title = "client";
  if (minCoverage > 0) title = `--min-coverage ${minCoverage}`;
  else if (failOn !== undefined) title = `--fail-on ${failOn}`;

  let sentence = "No request reached the sandbox.";
  if (report.requests > 0) sentence = "No request reached an endpoint.";
  const misses = report.advice.find(({ id }) => id === "wrong-method-or-path");
  if (misses !== undefined) {
    const tried = new Set(misses.examples.map(({ method, path }) => `${method} ${path}`));
    sentence += ` Your client tried ${[...tried].join(", ")}.`;
  }
  sentence += " If that is right, allow it with --min-coverage 0.";
  return { kind: "requests", title, sentence };
}

/** Returns advice and unmet thresholds as GitHub workflow commands, which its runner shows as annotations. */
export function githubAnnotations(report: Report, unmet: readonly UnmetThreshold[]): string {
  // A line break would end the command, and a percent sign starts an escape.
  const annotation = (plain: string) => oneSafeLine(plain).replaceAll("%", "%25");
  let lines = "";
  for (const advice of report.advice) {
    const level = advice.level === "note" ? "notice" : advice.level;
    const text = annotation(`${adviceCount(advice)}: ${advice.meaning} ${advice.whatToDo}`);
    lines += `::${level} title=svc-sandbox ${advice.id}::${text}\n`;
  }
  for (const { title, sentence } of unmet) {
    lines += `::error title=svc-sandbox ${title}::${annotation(sentence)}\n`;
  }
  return lines;
}
