import { redactKeys } from "../../domain/api-key.js";
import { loadFarmers } from "../../node/load-farmers.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/run-command.js";
import { type RunningServer, serveHost } from "../../node/serve-host.js";
import { gateOf } from "../../report/gate.js";
import { reportOf } from "../../report/report-of.js";
import { createHost, type Host } from "../../sandbox/host.js";
import { createTally } from "../../sandbox/tally.js";
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
  const host = createHost(() => openNamed(loaded, flags), { given: givenIn(flags) });
  // A test that clears the requests wants to count its own; the report is about all tests.
  const tally = createTally();
  host.tally.passOnTo(tally);
  // Without any it would not have come here.
  const command = rest as CommandWords;
  const signals = handOver(io.takeSignals);
  try {
    const end = await runServed(command, host, call, signals.take);
    signals.commandEnded();
    if ("failure" in end) {
      const { message, code } = whyNotRun(command, end.failure, io.cwd);
      io.stderr.write(`${redactKeys(message)}\n`);
      return code;
    }
    if (flags.tls || flags.cert !== undefined) tally.curlOptions = '--cacert "$SVC_CA_FILE"';
    // How to meet what is missing may lead to another scenario, whose API shows farmers.
    await loadFarmers();
    const report = reportOf({ world: host.world, tally });
    const reasons = gateOf(report, flags);
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

/** Runs the command while the host is served, and stops the server after it. */
async function runServed(
  command: CommandWords,
  host: Host,
  { flags, io }: Call,
  takeSignals: CommandOptions["takeSignals"],
): Promise<CommandEnd> {
  const log = createLog(flags, io);
  logEvents(host, log);
  const server = await serveHost(host, await serveOptions(flags, io, log));
  if (flags.verbose) log.note(servedText(host, server));
  try {
    const { env, remove } = await execEnvironment(io.env, host.world(), server);
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

function servedText(host: Host, { url }: RunningServer): string {
  const { name, seed, profile } = host.world();
  return `Serving ${name} (seed ${seed}, profile ${profile}) on ${url}.`;
}
