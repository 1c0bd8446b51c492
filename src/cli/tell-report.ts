import { redactKeys } from "../domain/redact.js";
import type { Report } from "../report/report.js";
import { conclusion, renderReport } from "../report/report-document.js";
import { listed } from "../scenario/problems/words.js";
import type { Call } from "./command.js";
import { describeFailure } from "./failure.js";
import { paletteFor } from "./palette.js";
import { type ReportTarget, writeReport } from "./report-target.js";

/**
 * Puts the report where it was asked for, else on stderr, and says there why it does not pass.
 *
 * Resolves to whether every file could be written; when one could not, the report is on stderr.
 */
export async function tellReport(
  report: Report,
  unmet: readonly string[],
  targets: readonly ReportTarget[],
  { flags, io }: Pick<Call, "flags" | "io">,
): Promise<boolean> {
  const { quiet = false, reportFormat = "text", verbose = false } = flags;
  const palette = paletteFor(io.stderr, io.env, flags);
  const say = (text: string) => io.stderr.write(redactKeys(text));
  const failures: unknown[] = [];
  for (const target of targets) {
    await writeReport(target, report, unmet, io.cwd).catch((error) => failures.push(error));
  }
  const isInFull = failures.length > 0 || (targets.length === 0 && !quiet);
  if (isInFull) {
    say(`\n${renderReport(report, reportFormat, { palette, failures: unmet })}`);
  } else if (!quiet) {
    const files = targets.map(({ file }) => JSON.stringify(file));
    say(`${conclusion(report)} The report is in ${listed(files, "and")}.\n`);
  }
  // The text for people ends with them.
  if (!isInFull || reportFormat !== "text") for (const sentence of unmet) say(`${palette.red(sentence)}\n`);
  if (report.requests === 0 && !quiet) say(`${whyNone(io.env)}\n`);
  for (const failure of failures) say(describeFailure(failure, { verbose }));
  return failures.length === 0;
}

const proxyVariables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

function whyNone(env: Call["io"]["env"]): string {
  const proxy = proxyVariables.find((name) => env[name]);
  const through =
    proxy === undefined ? "" : ` ${proxy} is set: does NO_PROXY name the sandbox's address, 127.0.0.1?`;
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${through}`;
}
