import { redactKeys } from "../../domain/redact.js";
import { loadFarmers } from "../../node/platform.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/process/run-command.js";
import { serveRuntime } from "../../node/server/serve-runtime.js";
import { reportOf } from "../../report/build-report.js";
import { unmetThresholds } from "../../report/thresholds.js";
import { createCounters } from "../../sandbox/counters.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { quote } from "../../scenario/problems/words.js";
import { type Call, declareCommand, type FlagValues, fileName, flag, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import {
  color,
  formatFlag,
  log,
  quiet,
  readPort,
  serverFlags,
  thresholdFlags,
  wide,
  worldFlags,
} from "../flags.js";
import { loadNamed, startNamed, warnOfPinned } from "../open-scenario.js";
import { execEnvironment } from "../serve/client-environment.js";
import { deliverReport, execTargets } from "../serve/exec-report.js";
import { createLog, logEvents } from "../serve/log.js";
import { serveOptions } from "../serve/serve-options.js";

const flags = {
  report: flag(
    "--report <file>",
    "write the report to this file and not to stderr, as its name ends: .json, .md, .xml (JUnit) or .txt; may be given more than once",
    (text, from) => [fileName(text, from)],
  ),
  format: formatFlag,
  ...thresholdFlags,
  // `PORT` is for the command, which may listen itself.
  port: flag("-p, --port <number>", "the port to listen on (default: 0, any free one)", readPort),
  ...serverFlags,
  ...worldFlags,
  log: log("off"),
  color,
  wide,
  quiet,
};
type ExecCall = Call<FlagValues<typeof flags>>;

export const command = declareCommand({
  summary: "run a command against a sandbox, and report which error paths its client has met",
  description:
    "Serves a scenario on a free port, runs the command with SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL in its environment, stops, and says on stderr (not with --quiet) which of the ways in which a request can end its client has met. stdin and stdout are the command's own, so there is no --json: name a file with --report. Exits with the command's code; with 1 when that is 0 and --min-coverage or --fail-on does not hold. The command is run without a shell: write sh -c '…' for one.",
  words: scenarioWord,
  rest: "<command...>",
  flags,
  examples: {
    "svc-sandbox exec -- npm test": "any command that reads SVC_BASE_URL",
    "svc-sandbox exec bad-day -- python3 -m pytest": "in another scenario",
    "svc-sandbox exec --min-coverage 80 --fail-on warning -- npm test": "with thresholds",
    "svc-sandbox exec --report errors.md --report errors.xml -- npm test": "for CI: Markdown and JUnit",
  },
  async run(call) {
    const { words, rest, flags, io } = call;
    const targets = execTargets(flags, io);
    const loaded = await loadNamed(words[0], io);
    const runtime = startNamed(loaded, flags);
    // A test that clears the requests wants to count its own; the report is about all tests.
    const counters = createCounters();
    runtime.counters.passOnTo(counters);
    let releaseSignals = () => {};
    const takeSignals: CommandOptions["takeSignals"] = (listener) => {
      releaseSignals = io.takeSignals(listener);
    };
    try {
      const end = await runServed(call, runtime, takeSignals);
      if ("failure" in end) {
        const { code, why } = whyNotRun(rest[0] as string, end.failure);
        io.stderr.write(redactKeys(`Failed to run ${quote(rest[0])}: ${why}.\n`));
        return code;
      }
      if (flags.tls || flags.cert !== undefined) counters.curlOptions = '--cacert "$SVC_CA_FILE"';
      // The way to meet a missing path may lead to another scenario, whose API shows farmers.
      await loadFarmers();
      const report = reportOf({ world: runtime.world, counters }, { underExec: true });
      const unmet = unmetThresholds(report, flags);
      const isWritten = await deliverReport(report, unmet, targets, call);
      io.keepCompiled?.();
      if (end.code !== exitCode.fine) return end.code;
      if (unmet.length > 0) return exitCode.failed;
      return isWritten ? exitCode.fine : exitCode.usage;
    } finally {
      // Not before: a signal while the report is written must not leave half of it.
      releaseSignals();
      io.endSoon();
    }
  },
});

// Runs the command while the runtime is served, and stops the server after it.
async function runServed(
  { rest, flags, io }: ExecCall,
  runtime: Runtime,
  takeSignals: CommandOptions["takeSignals"],
): Promise<CommandEnd> {
  const served = { port: 0, log: "off", ...flags } as const;
  const log = await createLog(served, io);
  logEvents(runtime, served, log);
  const server = await serveRuntime(runtime, await serveOptions(served, io, log));
  warnOfPinned(runtime.world(), flags, log);
  const { name, seed, profile } = runtime.world();
  if (flags.verbose) log.note(`Serving ${name} (seed ${seed}, profile ${profile}) on ${server.url}.`);
  try {
    const { env, remove } = await execEnvironment(io.env, runtime.world(), server);
    // A command line without a command has been refused.
    const command = rest as [string, ...string[]];
    return await runCommand(command, { cwd: io.cwd, env, takeSignals }).finally(remove);
  } finally {
    // Requests that are still under way are counted, too.
    await server.close();
  }
}

// Why a command could not be started, with the exit code that shells give then.
function whyNotRun(program: string, { code, message }: NodeJS.ErrnoException): { code: number; why: string } {
  if (code === "EACCES") return { code: 126, why: "it is not a program that you may execute" };
  if (code !== "ENOENT") return { code: 126, why: code ?? message };
  const why = /[\\/]/.test(program)
    ? "there is no such file, or no such program as its first line names"
    : "there is no such command in PATH. No shell reads the line: write its words one by one, env before variables, and npx before a command of this project's packages";
  return { code: 127, why };
}
