import { askReport } from "../../node/clients/ask-control.js";
import { unmetThresholds } from "../../report/brief.js";
import { mergeReports } from "../../report/report.js";
import { githubAnnotations, renderReport } from "../../report/report-document.js";
import { parseReport, type Report } from "../../report/report-shape.js";
import { redactKeys } from "../../spec/redact.js";
import { isMapping, parsedJson } from "../../spec/schema/json.js";
import { quote } from "../../spec/schema/words.js";
import { declareCommand, noVariable, toggle } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import { askFlags, controlCall, formatFlag, jsonOrFormat, runningUrl, thresholdFlags } from "../flags.js";
import type { Io } from "../io.js";
import { runsOnGithub } from "../serve/exec-report.js";
import { tellAs, writeData } from "../tell.js";
import { styleFor } from "../terminal.js";

export const command = declareCommand({
  summary: "print the report of a running sandbox: covered paths, other paths, advice",
  description:
    "Shows which responses the clients of a running sandbox have covered, how to cover the others, and what to do better. A server's report includes its instances; each instance also has its own report. With --merge it merges the report files of several runs. Exits with 5 if --min-coverage or --fail-on is not reached, and with 2 if there is no report. If GITHUB_ACTIONS is set, it prints advice as annotations on stderr.",
  words: {
    "[url...]": `${runningUrl}; with --merge the files`,
  },
  flags: {
    merge: toggle(
      "--merge",
      "merge the reports in these files, written with --report or --json, into one",
      noVariable,
    ),
    format: formatFlag,
    json: jsonOrFormat,
    ...thresholdFlags,
    ...askFlags,
  },
  examples: {
    "svc-sandbox report": "for people",
    'svc-sandbox report --format markdown >> "$GITHUB_STEP_SUMMARY"': "in the summary of a CI job",
    "svc-sandbox report --min-coverage 80 --fail-on warning": "with thresholds",
    "svc-sandbox report --merge unit.json end-to-end.json": "of two runs of exec --report",
  },
  async run({ words, flags, io }) {
    const format = flags.json ? "json" : (flags.format ?? "text");
    const found = flags.merge
      ? await readReports(words, io)
      : await askReport(controlCall(oneUrl(words), flags, io));
    const unmet = unmetThresholds(found, flags);
    const style = { ...styleFor(io.stdout, io.env), failures: unmet };
    tellAs(format, io.stdout, renderReport(found, format, style));
    if (runsOnGithub(io) && format !== "brief")
      writeData(io.stderr, redactKeys(githubAnnotations(found, unmet)));
    return unmet.length === 0 ? exitCode.fine : exitCode.threshold;
  },
});

function oneUrl([url, ...others]: readonly string[]): string | undefined {
  if (others.length === 0) return url;
  throw usageError("report accepts one URL. To merge files with the reports of several runs, add --merge.");
}

async function readReports(files: readonly string[], io: Io): Promise<Report> {
  const [first, ...others] = await Promise.all(files.map((file) => readReport(file, io)));
  if (first !== undefined) return mergeReports([first, ...others]);
  throw usageError("--merge requires files. Name the files that exec --report run.json wrote.");
}

async function readReport(file: string, io: Io): Promise<Report> {
  const report = parseReport(jsonOf(await readGivenFile(file, "the report", io)));
  if (report !== undefined) return report;
  throw usageError(
    `${quote(file)} is not a JSON report of this version. Write one with exec --report run.json, or report --json.`,
  );
}

function jsonOf(text: string): unknown {
  const json = parsedJson(text);
  // The control plane's response contains it in `data`.
  return isMapping(json) ? (json.data ?? json) : undefined;
}
