import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { redactKeys } from "../../domain/redact.js";
import { loadFarmers } from "../../node/platform.js";
import { type CommandEnd, type CommandOptions, runCommand } from "../../node/process/run-command.js";
import { type RunningServer, serveRuntime } from "../../node/server/serve-runtime.js";
import { reportOf } from "../../report/build-report.js";
import { unmetThresholds } from "../../report/thresholds.js";
import { createCounters } from "../../sandbox/counters.js";
import { createRuntime, type Runtime } from "../../sandbox/runtime.js";
import { quote } from "../../scenario/problems/words.js";
import { declareCommand, fileName, flag, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import {
  color,
  formatFlag,
  log,
  quiet,
  readPort,
  serverFlags,
  thresholdFlags,
  verbose,
  worldFlags,
} from "../flags.js";
import type { Io } from "../io.js";
import { givenIn, loadNamed, openNamed } from "../open-scenario.js";
import { execEnvironment } from "../serve/client-environment.js";
import { deliverReport, reportTargets } from "../serve/exec-report.js";
import { handOver } from "../serve/exec-signals.js";
import { createLog, type LogFlags, logEvents } from "../serve/log.js";
import { type ServeFlags, serveOptions } from "../serve/serve-options.js";

type CommandWords = readonly [string, ...string[]];

export const command = declareCommand({
  summary: "run a command against a sandbox, and report which error paths its client has met",
  description:
    "Serves a scenario on a free port, runs the command with SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL in its environment, stops, and says on stderr (not with --quiet) which of the ways in which a request can end its client has met. stdin and stdout are the command's own, so there is no --json: name a file with --report. Exits with the command's code; with 1 when that is 0 and --min-coverage or --strict does not hold. The command is run without a shell: write sh -c '…' for one.",
  words: [scenarioWord],
  rest: "<command...>",
  flags: {
    report: flag(
      "--report <file>",
      "write the report to this file and not to stderr, as its name ends: .json, .md, .xml (JUnit) or .txt; may be given more than once",
      (text, from) => [fileName(text, from)],
      { repeatable: true },
    ),
    format: formatFlag,
    ...thresholdFlags,
    // `PORT` is for the command, which may listen itself.
    port: flag("-p, --port <number>", "the port to listen on (default: 0, any free one)", readPort),
    ...serverFlags,
    ...worldFlags,
    log: log("off"),
    color,
    quiet,
    verbose,
  },
  examples: [
    { line: "svc-sandbox exec -- npm test", does: "any command that reads SVC_BASE_URL" },
    { line: "svc-sandbox exec bad-day -- python3 -m pytest", does: "in another scenario" },
    { line: "svc-sandbox exec --min-coverage 80 --strict -- npm test", does: "with thresholds" },
    {
      line: "svc-sandbox exec --report errors.md --report errors.xml -- npm test",
      does: "for CI: Markdown and JUnit",
    },
  ],
  async run(call) {
    const { words, rest, flags, io } = call;
    const targets = reportTargets(flags);
    const loaded = await loadNamed(words[0], io);
    const runtime = createRuntime(() => openNamed(loaded, flags), { given: givenIn(flags) });
    // A test that clears the requests wants to count its own; the report is about all tests.
    const counters = createCounters();
    runtime.counters.passOnTo(counters);
    // The command line is refused when it is empty.
    const command = rest as CommandWords;
    const signals = handOver(io.takeSignals);
    try {
      const served = { port: 0, log: "off", ...flags } as const;
      const end = await runServed(command, runtime, served, io, signals.take);
      signals.commandEnded();
      if ("failure" in end) {
        const { message, code } = whyNotRun(command, end.failure, io.cwd);
        io.stderr.write(`${redactKeys(message)}\n`);
        return code;
      }
      if (flags.tls || flags.cert !== undefined) counters.curlOptions = '--cacert "$SVC_CA_FILE"';
      // The way to meet a missing path may lead to another scenario, whose API shows farmers.
      await loadFarmers();
      const report = reportOf({ world: runtime.world, counters });
      const unmet = unmetThresholds(report, flags);
      const isWritten = await deliverReport(report, unmet, targets, call);
      if (end.code !== exitCode.fine) return end.code;
      if (unmet.length > 0) return exitCode.failed;
      return isWritten ? exitCode.fine : exitCode.usage;
    } finally {
      // Not before: a signal while the report is written must not leave half of it.
      signals.release();
      io.endSoon();
    }
  },
});

// Runs the command while the runtime is served, and stops the server after it.
async function runServed(
  command: CommandWords,
  runtime: Runtime,
  flags: ServeFlags & LogFlags,
  io: Io,
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

// Why a command could not be started and what to do about it, with the exit code that shells give then.
function whyNotRun(
  words: CommandWords,
  { code, message }: NodeJS.ErrnoException,
  cwd: string,
): { readonly message: string; readonly code: 126 | 127 } {
  const [program] = words;
  const isPath = /[\\/]/.test(program);
  const say = (why: string) => `Failed to run ${quote(program)}: ${why}`;
  if (code === "ENOENT") {
    if (isPath && existsSync(resolve(cwd, program))) {
      return { code: 127, message: say("the program that its first line names is not there.") };
    }
    return { code: 127, message: say(isPath ? "there is no such file." : notInPath(words, cwd)) };
  }
  if (code === "EACCES") return { code: 126, message: say("it is not a program that you may execute.") };
  if (code === "E2BIG") {
    return { code: 126, message: say("its words and its environment are longer than this system takes.") };
  }
  return { code: 126, message: say(`${code ?? message}.`) };
}

function notInPath([program, ...others]: CommandWords, cwd: string): string {
  const found = "there is no such command in PATH.";
  if (others.length === 0 && /\s/.test(program)) {
    return `${found} It is run without a shell, word by word: svc-sandbox exec -- ${program}`;
  }
  if (/^\w+=/.test(program)) return `${found} To set a variable, put env before it: exec -- env ${program} …`;
  if (existsSync(join(cwd, "node_modules/.bin", program))) {
    return `${found} It is one of this project's packages: exec -- npx ${program} …`;
  }
  return `${found} Is it installed, and is its folder in PATH?`;
}
