import { extname, resolve } from "node:path";
import { redactKeys } from "../../domain/redact.js";
import { writeReportFile } from "../../node/files/write-file.js";
import { githubAnnotations } from "../../report/render/annotations.js";
import type { ReportFormat } from "../../report/render/document.js";
import type { Report } from "../../report/report.js";
import { conclusion, renderReport } from "../../report/report-document.js";
import type { UnmetThreshold } from "../../report/thresholds.js";
import { listed, quote } from "../../scenario/problems/words.js";
import { describeFailure, unwritable, usageError } from "../exit-codes.js";
import type { Io } from "../io.js";
import { styleFor } from "../terminal.js";

interface ReportFlags {
  readonly report?: readonly string[];
  readonly format?: ReportFormat;
  readonly color?: boolean;
  readonly wide?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

interface ReportTarget {
  readonly file: string;
  readonly format: ReportFormat;
  readonly isAppended: boolean;
}

const formatOfEnding: Readonly<Record<string, ReportFormat>> = {
  ".json": "json",
  ".md": "markdown",
  ".markdown": "markdown",
  ".xml": "junit",
  ".txt": "text",
};

/** Whether a job of GitHub Actions runs this: it shows annotations. */
export function runsOnGithub({ env }: Pick<Io, "env">): boolean {
  return env.GITHUB_ACTIONS === "true";
}

/** The files that `--report` names; throws `usage` when neither a name nor `--format` says what to write there. */
export function reportTargets(
  { report = [], format: given }: ReportFlags,
  { env, cwd }: Pick<Io, "env" | "cwd">,
): ReportTarget[] {
  return report.map((file) => {
    // Each step of a job adds to one file, whose name has no ending.
    const isSummary = resolve(cwd, file) === env.GITHUB_STEP_SUMMARY;
    const format = given ?? (isSummary ? "markdown" : formatOfEnding[extname(file).toLowerCase()]);
    if (format !== undefined) return { file, format, isAppended: isSummary };
    throw usageError(
      `Failed to read --report: ${quote(file)} does not say how to write the report. End its name with .json, .md, .xml (JUnit) or .txt, or give --format.`,
    );
  });
}

/**
 * Puts the report where it was asked for, else on stderr, and says there why it does not pass.
 *
 * Resolves to whether every file could be written; when one could not, the report is on stderr.
 */
export async function deliverReport(
  report: Report,
  unmet: readonly UnmetThreshold[],
  targets: readonly ReportTarget[],
  { flags, io }: { readonly flags: ReportFlags; readonly io: Io },
): Promise<boolean> {
  const { quiet = false, format = "text" } = flags;
  const { palette, width } = styleFor(io.stderr, io.env, flags);
  const say = (text: string) => io.stderr.write(redactKeys(text));
  const failures: unknown[] = [];
  for (const { file, format, isAppended } of targets) {
    const text = redactKeys(renderReport(report, format, { failures: unmet }));
    await writeReportFile(resolve(io.cwd, file), text, isAppended)
      .catch(unwritable(`the report to ${quote(file)}`, "Name another file with --report."))
      .catch((failure) => failures.push(failure));
  }
  const isInFull = failures.length > 0 || (targets.length === 0 && !quiet);
  if (isInFull) {
    say(`\n${renderReport(report, format, { palette, width, failures: unmet })}`);
  } else if (!quiet) {
    const files = targets.map(({ file }) => JSON.stringify(file));
    say(`${conclusion(report)} The report is in ${listed(files, "and")}.\n`);
  }
  // The text for people ends with them.
  if (!isInFull || format !== "text") for (const { sentence } of unmet) say(`${palette.red(sentence)}\n`);
  if (report.requests === 0 && !quiet) {
    const proxy = Object.keys(io.env).find((name) => /^(https?|all)_proxy$/i.test(name) && io.env[name]);
    say(
      "Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?",
    );
    say(
      proxy === undefined ? "\n" : ` ${proxy} is set: does NO_PROXY name the sandbox's address, 127.0.0.1?\n`,
    );
  }
  if (runsOnGithub(io)) say(githubAnnotations(report, unmet));
  for (const failure of failures) say(describeFailure(failure, flags));
  return failures.length === 0;
}
