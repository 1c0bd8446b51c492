import { lstatSync, promises } from "node:fs";
import { extname, resolve } from "node:path";
import { ControlClient } from "../../node/clients/control-client.js";
import { readFailure, rejectEndlessFile } from "../../node/files/write-file.js";
import { mergeReports } from "../../report/merge-reports.js";
import { formats, reportFormats } from "../../report/render/layout.js";
import { renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import { parseReport } from "../../report/report-shape.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { type Io, runsOnGithub } from "../io.js";
import { githubAnnotations, unmetThresholds } from "../report.js";
import { controlAddress, runningUrlText } from "../running-sandbox.js";
import * as shared from "../shared-flags.js";

/** What each mode reads: how the report is printed, and what makes the command fail. */
const outputFlags = { format: shared.format, json: shared.json, ...shared.thresholdFlags };
const outputFlagNames = flag.flagNamesOf(outputFlags);

export const reportCommand = declareCommand({
  summary: "print the report of a running sandbox: covered outcomes, other outcomes, advice",
  description:
    "Shows which responses the clients of a running sandbox have covered, how to cover the others, and what to do better. With --merge it merges the report files of several runs. Exits with 5 if --min-coverage or --fail-on is not reached, and with 2 if there is no report. If GITHUB_ACTIONS is set, it prints advice as annotations on stderr.",
  args: {
    "[url or file...]": `${runningUrlText}; or the file of a report, with --merge several`,
  },
  flags: {
    merge: flag.cliOnlyToggle(
      "--merge",
      "merge the reports in these files, written with --report or --json, into one",
    ),
    ...outputFlags,
    ...shared.callFlags,
  },
  modes: [
    {
      name: "report --merge",
      when: ({ flags }) => flags.merge,
      flags: ["merge", ...outputFlagNames],
    },
    {
      name: "report <file>",
      when: ({ args, io }) => args.length === 1 && meansFile(args[0] as string, io.cwd),
      flags: outputFlagNames,
    },
    {
      name: "report <url>",
      flags: [...outputFlagNames, ...flag.flagNamesOf(shared.callFlags)],
    },
  ],
  examples: {
    "svc-sandbox report": "for people",
    'svc-sandbox report --format markdown >> "$GITHUB_STEP_SUMMARY"': "in the summary of a CI job",
    "svc-sandbox report --min-coverage 80 --fail-on warning": "with thresholds",
    "svc-sandbox report --merge unit.json end-to-end.json": "of two runs of exec --report",
  },
  async run({ mode, args, flags, io }) {
    const format = flags.json ? "json" : (flags.format ?? "text");
    if (mode !== "report --merge" && args.length > 1) {
      throw usageError(
        "report accepts one URL. To merge files with the reports of several runs, add --merge.",
      );
    }

    let report: Report;
    if (mode === "report <url>") {
      const client = new ControlClient(controlAddress(args[0], flags, io));
      report = await client.report();
    } else {
      const [first, ...moreReports] = await Promise.all(args.map((file) => readReport(file, io)));
      if (first === undefined) {
        throw usageError(
          `--merge requires files. Name those that \`${io.program} exec --report run.json -- <command>\` wrote.`,
        );
      }
      report = mergeReports([first, ...moreReports]);
    }

    const unmet = unmetThresholds(report, flags);
    const failures = unmet.map(({ sentence }) => sentence);
    const certifyCommand = `${io.program} certify -- npm test`;
    const text = renderReport(report, format, { ...io.stdout.style(), failures, certifyCommand });
    io.stdout.write(redactPlainKeys(text));
    if (runsOnGithub(io)) io.stderr.write(redactPlainKeys(githubAnnotations(report, unmet)));
    return unmet.length === 0 ? exitCode.fine : exitCode.threshold;
  },
});

/** Whether a word means the file of a report, and not the address of a sandbox. */
function meansFile(word: string, cwd: string): boolean {
  if (word === "" || /^https?:/.test(word)) return false;
  // The name of a report, also if the file is missing: `run.json`.
  const extension = extname(word).toLowerCase();
  if (reportFormats.some((name) => formats[name].extensions.includes(extension))) return true;
  // A path: `/tmp/run`, `./run`, `../run`.
  if (/^\.{0,2}\//.test(word)) return true;
  // The name of anything in this folder, which may also look like an address.
  return isThere(resolve(cwd, word));
}

/** Whether there is anything at a path, also a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

async function readReport(file: string, io: Io): Promise<Report> {
  const path = resolve(io.cwd, file);
  let text: string;
  try {
    rejectEndlessFile(await promises.stat(path));
    text = await promises.readFile(path, "utf8");
  } catch (error) {
    throw usageError(`Failed to read the report ${quoteFile(file)}: ${readFailure(error)}.`);
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
