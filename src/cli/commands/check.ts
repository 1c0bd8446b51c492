import { renderCheck } from "../../check/document.js";
import { secretsIn } from "../../check/keys.js";
import type { CheckReport } from "../../check/report.js";
import { runCheck } from "../../check/run.js";
import { parseApiKey } from "../../domain/api-key.js";
import { redactKeys } from "../../domain/redact.js";
import { endpointUnder } from "../../node/clients/endpoint-url.js";
import { createSend } from "../../node/clients/send-once.js";
import { isLoopbackHost } from "../../node/server/listen.js";
import type { ReportFormat } from "../../report/render/document.js";
import { unknownSecret } from "../../sandbox/scenario-keys.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { paletteFor } from "../palette.js";
import { formatOf } from "../report-format.js";

const defaultMaxRequests = 10;
const defaultTimeout = 10_000;

/** `svc-sandbox check` */
export const check: Run = async ({ words, flags, io }) => {
  const format = formatOf(flags);
  const url = endpointUnder(words[0] ?? "");
  warnOfPlainHttp(url, io);
  const report = await runCheck(createSend(url, flags.timeout ?? defaultTimeout), {
    url: url.href,
    env: io.env,
    maxRequests: flags.maxRequests ?? defaultMaxRequests,
    probeLimits: flags.probeLimits === true,
    unknownKey: unknownSecret(0),
  });
  print(report, format, io);
  return report.verdict === "agrees" ? exitCode.fine : exitCode.failed;
};

function print(report: CheckReport, format: ReportFormat, io: Io): void {
  const { stopped } = report;
  if (stopped !== undefined) io.stderr.write(redactKeys(`${stopped}\n`));
  if (format === "text" && stopped !== undefined) return;
  io.stdout.write(redactKeys(renderCheck(report, format, paletteFor(io.stdout, io.env))));
}

function warnOfPlainHttp({ protocol, host }: URL, { env, stderr }: Io): void {
  const isReal = (secret: string) => parseApiKey(secret)?.marked !== true;
  if (protocol !== "http:" || isLoopbackHost(host) || !secretsIn(env).some(isReal)) return;
  stderr.write(`Keys go to ${host} unencrypted: the base URL begins with http://.\n`);
}
