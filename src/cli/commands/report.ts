import { redactKeys } from "../../domain/redact.js";
import { askReport } from "../../node/clients/ask-report.js";
import { renderReport, unmetThresholds } from "../../report/report-document.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { controlToken, formatFlag, jsonOrFormat, thresholdFlags, timeout } from "../flags.js";
import { paletteFor } from "../terminal.js";

const standardUrl = "http://127.0.0.1:4747";
const defaultTimeout = 10_000;

export const command = declareCommand({
  summary: "print the report of a running sandbox: paths met, paths missed, advice",
  description:
    "Asks a running sandbox which of the ways in which a request can end its clients have met, how to meet the others, and what to do better. A server's report counts the requests to its instances, too; an instance has a report of its own. Exits with 1 when --min-coverage or --strict does not hold, with 2 when no report can be got.",
  words: {
    "[url]": "the sandbox's base URL or control URL (default: SVC_CONTROL_URL, else http://127.0.0.1:4747)",
  },
  flags: { format: formatFlag, json: jsonOrFormat, ...thresholdFlags, controlToken, timeout },
  examples: {
    "svc-sandbox report": "for people",
    'svc-sandbox report --format markdown >> "$GITHUB_STEP_SUMMARY"': "in the summary of a CI job",
    "svc-sandbox report --min-coverage 80 --strict": "with thresholds",
  },
  async run({ words, flags, io }) {
    const format = flags.json ? "json" : (flags.format ?? "text");
    const found = await askReport({
      url: words[0] ?? (io.env.SVC_CONTROL_URL || standardUrl),
      token: flags.controlToken,
      timeout: flags.timeout ?? defaultTimeout,
    });
    const unmet = unmetThresholds(found, flags);
    const palette = paletteFor(io.stdout, io.env);
    io.stdout.write(redactKeys(renderReport(found, format, { palette, failures: unmet })));
    return unmet.length === 0 ? exitCode.fine : exitCode.failed;
  },
});
