import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReportFormat } from "../../report/render/layout.js";
import { conclusion, githubAnnotations, renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import type { UnmetThreshold } from "../../report/thresholds.js";
import { redactKeys } from "../../rules/redact.js";
import { listed } from "../../rules/schema/words.js";
import { describeFailure } from "../exit-codes.js";
import { type ReportTarget, writeTargets } from "../files.js";
import type { Io } from "../io.js";

interface ReportFlags {
  readonly report?: readonly string[];
  readonly format?: ReportFormat;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly tls?: boolean;
  readonly cert?: string;
}

export const execReportFiles = { name: "--report", what: "the report" };

export function runsOnGithub({ env }: Pick<Io, "env">): boolean {
  return ["true", "1"].includes(env.GITHUB_ACTIONS ?? "");
}

export function whyNoRequest(
  { cwd }: Pick<Io, "cwd">,
  { tls, cert }: Pick<ReportFlags, "tls" | "cert">,
): string {
  const trust = tls || cert !== undefined ? " Does it trust the certificate in SVC_CA_FILE?" : "";
  const project = join(cwd, "package.json");
  const hasMsw = existsSync(project) && /"msw"\s*:/.test(readFileSync(project, "utf8"));
  const mocks = hasMsw
    ? "its tests mock HTTP with other handlers of msw, which package.json lists"
    : "its tests mock HTTP, for example with msw";
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${trust} Or do ${mocks}? Use createHandlers of svc-sandbox/msw. If they do, the variable SVC_SANDBOX_RUN is missing in the process of your tests: pass it on, so that their requests count.`;
}

/** Resolves to whether every file could be written; if not, the report is on stderr. `problems` are sentences about the run. */
export async function deliverReport(
  report: Report,
  unmet: readonly UnmetThreshold[],
  targets: readonly ReportTarget[],
  { flags, io }: { readonly flags: ReportFlags; readonly io: Io },
  problems: string,
): Promise<boolean> {
  const { quiet = false, format = "text" } = flags;
  const style = io.stderr.style();
  const print = (text: string) => io.stderr.write(redactKeys(text));
  const say = (text: string) => io.stderr.say(redactKeys(text));
  const why = problems || whyNoRequest(io, flags);
  const how = { failures: unmet, hint: `The command has sent no request. ${why}` };
  const inFormat = (as: ReportFormat) => renderReport(report, as, how);
  const failures = await writeTargets(targets, inFormat, execReportFiles, io);
  const isInFull = failures.length > 0 || (targets.length === 0 && !quiet);
  const end = () => {
    for (const failure of failures) say(describeFailure(failure, flags));
    return failures.length === 0;
  };
  // Programs read it to its end.
  if (isInFull && format === "json") {
    print(inFormat(format));
    return end();
  }
  if (isInFull) {
    print(`\n${renderReport(report, format, { ...how, ...style })}`);
  } else if (!quiet) {
    const files = targets.map(({ file }) => (file === "-" ? "stdout" : JSON.stringify(file)));
    say(`${conclusion(report)} The report is in ${listed(files, "and")}.\n`);
  }
  // Only the text for people already ends with these sentences.
  if (!isInFull || format !== "text")
    for (const { sentence } of unmet) say(`${style.palette.red(sentence)}\n`);
  if ((report.requests === 0 || problems) && !quiet) say(`${why}\n`);
  if (runsOnGithub(io)) print(githubAnnotations(report, unmet));
  return end();
}
