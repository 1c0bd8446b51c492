import { redactKeys } from "../../domain/redact.js";
import { loadFarmers } from "../../node/load-farmers.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/process/run-command.js";
import { type RunningServer, serveRuntime } from "../../node/server/serve-runtime.js";
import { reportOf } from "../../report/build-report.js";
import { unmetThresholds } from "../../report/thresholds.js";
import { createCounters } from "../../sandbox/counters.js";
import { createRuntime, type Runtime } from "../../sandbox/runtime.js";
import type { Call, Run } from "../command.js";
import { execEnvironment } from "../exec-environment.js";
import { handOver } from "../exec-signals.js";
import { exitCode } from "../exit-codes.js";
import { createLog, logEvents } from "../log.js";
import { givenIn, loadNamed, openNamed } from "../open-scenario.js";
import { reportTargets } from "../report-target.js";
import { serveOptions } from "../serve-options.js";
import { tellReport } from "../tell-report.js";
import { whyNotRun } from "../why-not-run.js";

type CommandWords = readonly [string, ...string[]];

/** `svc-sandbox exec` */
export const exec: Run = async (given) => {
  const { execPort = 0, execLog = "off" } = given.flags;
  const call = { ...given, flags: { ...given.flags, port: execPort, log: execLog } };
  const { words, rest, flags, io } = call;
  const targets = reportTargets(flags);
  const loaded = await loadNamed(words[0], call);
  const runtime = createRuntime(() => openNamed(loaded, flags), { given: givenIn(flags) });
  // A test that clears the requests wants to count its own; the report is about all tests.
  const counters = createCounters();
  runtime.counters.passOnTo(counters);
  // Without any it would not have come here.
  const command = rest as CommandWords;
  const signals = handOver(io.takeSignals);
  try {
    const end = await runServed(command, runtime, call, signals.take);
    signals.commandEnded();
    if ("failure" in end) {
      const { message, code } = whyNotRun(command, end.failure, io.cwd);
      io.stderr.write(`${redactKeys(message)}\n`);
      return code;
    }
    if (flags.tls || flags.cert !== undefined) counters.curlOptions = '--cacert "$SVC_CA_FILE"';
    // How to meet what is missing may lead to another scenario, whose API shows farmers.
    await loadFarmers();
    const report = reportOf({ world: runtime.world, counters });
    const reasons = unmetThresholds(report, flags);
    const isWritten = await tellReport(report, reasons, targets, call);
    if (end.code !== exitCode.fine) return end.code;
    if (reasons.length > 0) return exitCode.failed;
    return isWritten ? exitCode.fine : exitCode.usage;
  } finally {
    // Not before: who asks to stop while the report is written does not want half of it.
    signals.release();
    io.endSoon();
  }
};

/** Runs the command while the runtime is served, and stops the server after it. */
async function runServed(
  command: CommandWords,
  runtime: Runtime,
  { flags, io }: Call,
  takeSignals: CommandOptions["takeSignals"],
): Promise<CommandEnd> {
  const log = createLog(flags, io);
  logEvents(runtime, log);
  const server = await serveRuntime(runtime, await serveOptions(flags, io, log));
  if (flags.verbose) log.note(servedText(runtime, server));
  try {
    const { env, remove } = await execEnvironment(io.env, runtime.world(), server);
    try {
      return await runCommand(command, { cwd: io.cwd, env, takeSignals });
    } finally {
      await remove();
    }
  } finally {
    // Requests that are still under way are counted, too.
    await server.close();
    await log.written();
  }
}

function servedText(runtime: Runtime, { url }: RunningServer): string {
  const { name, seed, profile } = runtime.world();
  return `Serving ${name} (seed ${seed}, profile ${profile}) on ${url}.`;
}
