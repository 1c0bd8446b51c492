import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { ControlClient } from "../../node/clients/control-client.js";
import { fileFailure, readSmallFile } from "../../node/files/write-file.js";
import { mergeReports } from "../../report/merge-reports.js";
import { formats, reportFormats } from "../../report/render/layout.js";
import { renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import { parseReport } from "../../report/report-shape.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { quoteFile } from "../../schema/words.js";
import { type CommandCall, declareCommand, refuseFlags } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { type Io, runsOnGithub } from "../io.js";
import * as shared from "../shared-flags.js";
import { githubAnnotations, unmetThresholds } from "../thresholds.js";

const reportFlags = {
  merge: flag.toggle(
    "--merge",
    "merge the reports in these files, written with --report or --json, into one",
  ),
  format: shared.format,
  json: shared.json,
  ...shared.thresholdFlags,
  ...shared.callFlags,
};

export const reportCommand = declareCommand({
  summary: "print the report of a running sandbox: covered outcomes, other outcomes, advice",
  description:
    "Shows which responses the clients of a running sandbox have covered, how to cover the others, and what to do better. With --merge it merges the report files of several runs. Exits with 5 if --min-coverage or --fail-on is not reached, and with 2 if there is no report. If GITHUB_ACTIONS is set, it prints advice as annotations on stderr.",
  args: {
    "[url or file...]": `${shared.runningUrlText}; or the file of a report, with --merge several`,
  },
  flags: reportFlags,
  examples: {
    "svc-sandbox report": "for people",
    'svc-sandbox report --format markdown >> "$GITHUB_STEP_SUMMARY"': "in the summary of a CI job",
    "svc-sandbox report --min-coverage 80 --fail-on warning": "with thresholds",
    "svc-sandbox report --merge unit.json end-to-end.json": "of two runs of exec --report",
  },
  async run(call) {
    const { flags, io } = call;
    const format = flags.json ? "json" : (flags.format ?? "text");
    const report = await wantedReport(call);

    const unmet = unmetThresholds(report, flags);
    const failures = unmet.map(({ sentence }) => sentence);
    const certifyCommand = `${io.program} certify -- npm test`;
    io.stdout.write(renderReport(report, format, { ...io.stdout.style(), failures, certifyCommand }));
    if (runsOnGithub(io)) io.stderr.write(githubAnnotations(report, unmet));
    return unmet.length === 0 ? exitCode.fine : exitCode.threshold;
  },
});

/** The report in files, or that of a running sandbox. */
async function wantedReport(call: CommandCall<flag.FlagValues<typeof reportFlags>>): Promise<Report> {
  const { args, flags, io } = call;
  if (!flags.merge && args.length > 1) {
    throw usageError("report accepts one URL. To merge files with the reports of several runs, add --merge.");
  }
  const isOfFiles = flags.merge || (args[0] !== undefined && meansFile(args[0], io.cwd));
  if (!isOfFiles) return new ControlClient(shared.controlAddress(args[0], call)).report();

  refuseFlags(call, Object.keys(shared.callFlags), "report of a file");
  const [first, ...others] = args.map((file) => readReport(file, io));
  if (first !== undefined) return mergeReports([first, ...others]);
  throw usageError(
    `--merge requires files. Name those that \`${io.program} exec --report run.json -- <command>\` wrote.`,
  );
}

/** Whether a word means the file of a report, also one that is missing, and not the address of a sandbox. */
function meansFile(word: string, cwd: string): boolean {
  if (word === "" || /^https?:/.test(word)) return false;
  const extension = extname(word).toLowerCase();
  if (reportFormats.some((name) => formats[name].extensions.includes(extension))) return true;
  return /^\.{0,2}\//.test(word) || existsSync(resolve(cwd, word));
}

function readReport(file: string, io: Io): Report {
  let text: string;
  try {
    text = readSmallFile(resolve(io.cwd, file)).toString();
  } catch (error) {
    throw usageError(`Failed to read the report ${quoteFile(file)}: ${fileFailure(error)}.`);
  }

  const json = tryParseJson(text);
  if (isMapping(json)) {
    // A response of the control plane has the report in `data`.
    const report = parseReport(json.data ?? json);
    if (report !== undefined) return report;
  }
  throw usageError(
    `${quoteFile(file)} is not a JSON report of this version. Write one with \`${io.program} report --json\`, or exec --report run.json.`,
  );
}
