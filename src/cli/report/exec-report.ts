import type { ReportFormat } from "../../report/render/layout.js";
import { conclusion, renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import { rerunCommand } from "../../report/shell-words.js";
import type { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/redact.js";
import { listed, quoteFile } from "../../schema/words.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import { runsOnGithub } from "../io.js";
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

/** What a run of the command has shown. */
interface ShownRun {
  readonly report: Report;
  readonly unmet: readonly UnmetThreshold[];
  readonly folder: RunFolder;
}

/** The flag that names the files of the report, and what they contain. */
export const reportFlag = { name: "--report", what: "the report" };

/** The report of `exec`, in its files or on stderr, with the lines next to it. */
export class ExecReport {
  readonly #run: ShownRun;
  readonly #call: CommandCall<ReportFlags>;
  /** What may be the reason if requests are missing. */
  readonly #whyMissing: string;

  constructor(run: ShownRun, call: CommandCall<ReportFlags>) {
    const uncounted = run.folder.uncountedSentences().join(" ");
    this.#run = run;
    this.#call = call;
    this.#whyMissing = uncounted || whyNoRequest(call.io, call.flags);
  }

  /** Writes the report into its files, or prints it; resolves to whether every file could be written. If not, the report is on stderr. */
  async deliver(targets: readonly ReportTarget[]): Promise<boolean> {
    const { flags, io } = this.#call;
    const { quiet = false, format = "text" } = flags;
    const { report, unmet } = this.#run;
    const failures = await writeTargets(targets, (inFormat) => this.#render(inFormat), reportFlag, io);
    const isWritten = failures.length === 0;

    // A report that a file should have, and has not, must not be lost: it is printed also with --quiet.
    const printsReport = !isWritten || (targets.length === 0 && !quiet);
    if (printsReport && format === "json") {
      this.#sayFailures(failures);
      // JSON comes last: programs read it to the end of stderr.
      io.stderr.write(redactPlainKeys(this.#render("json")));
      return isWritten;
    }

    if (printsReport) this.#print(format);
    else if (!quiet) this.#sayWhereItIs(targets);
    // A report as text already ends with the unmet thresholds.
    const showsUnmet = printsReport && format === "text";
    if (!showsUnmet) this.#sayUnmet();
    if (!quiet) this.#sayWhatIsMissing();
    if (runsOnGithub(io)) io.stderr.write(redactPlainKeys(githubAnnotations(report, unmet)));
    this.#sayFailures(failures);
    return isWritten;
  }

  /** The report in a format; without a style, it has no colors and no width, as in files. */
  #render(format: ReportFormat, style: object = {}): string {
    const { report, unmet } = this.#run;
    const { args, clientCommand, io } = this.#call;
    return renderReport(report, format, {
      failures: unmet.map(({ sentence }) => sentence),
      hint: `The command has sent no request. ${this.#whyMissing}`,
      certifyCommand: rerunCommand("certify", args, clientCommand, io.program),
      ...style,
    });
  }

  #print(format: ReportFormat): void {
    const { stderr } = this.#call.io;
    stderr.write(redactPlainKeys(`\n${this.#render(format, stderr.style())}`));
  }

  #sayWhereItIs(targets: readonly ReportTarget[]): void {
    const files = targets.map(({ file }) => (file === "-" ? "stdout" : quoteFile(file)));
    const sentence = `${conclusion(this.#run.report)} The report is in ${listed(files, "and")}.`;
    this.#call.io.stderr.say(redactPlainKeys(`${sentence}\n`));
  }

  /** Prints the thresholds that were not reached. */
  #sayUnmet(): void {
    const { stderr } = this.#call.io;
    const { palette } = stderr.style();
    for (const { sentence } of this.#run.unmet) stderr.say(redactPlainKeys(`${palette.red(sentence)}\n`));
  }

  /** Prints why requests may be missing, and what is left of the run. */
  #sayWhatIsMissing(): void {
    const { report, folder } = this.#run;
    const sentences = folder.notRemovedSentences();
    const mayLackRequests = report.requests === 0 || folder.uncountedSentences().length > 0;
    if (mayLackRequests) sentences.unshift(this.#whyMissing);
    for (const sentence of sentences) this.#call.io.stderr.say(redactPlainKeys(`${sentence}\n`));
  }

  #sayFailures(failures: readonly SandboxError[]): void {
    const { flags, io } = this.#call;
    for (const failure of failures) io.stderr.say(redactPlainKeys(describeFailure(failure, flags)));
  }
}
