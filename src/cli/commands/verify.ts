import { resolve } from "node:path";
import { type LoadedScenario, loadScenario } from "../../node/files/load-scenario.js";
import { nodePlatform } from "../../node/platform.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { printable, redactKeys } from "../../rules/redact.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { ScenarioError } from "../../scenario/problems.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted } from "../io.js";
import { namedOrOwn, problemsJson } from "../open-scenario.js";
import { createLog } from "../serve/log.js";
import { verdictJson, verdictOn, verdictText } from "../story/verdict.js";
import type { Palette } from "../terminal.js";

const flags = {
  all: flag.plainToggle("--all", "every bundled scenario"),
  // No variable: one for `start` would keep it running.
  watch: flag.plainToggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C"),
  ...flag.ofSandbox,
  json: flag.json,
  quiet: flag.quiet,
};
type VerifyCall = CallOf<typeof flags>;

export const verifyCommand = declareCommand({
  summary: "run the stories of scenarios as tests",
  description:
    "Runs the story of each scenario without waiting, in its own sandbox with a frozen clock that only the story moves, and prints the result of each step. A story ends with its first unexpected result, and its place in the file is shown. Exits with 1 if a story fails or is missing, with 2 if a scenario cannot be read.",
  words: { "[scenario...]": "bundled names or files (default: svc-sandbox.yaml)" },
  flags,
  examples: {
    "svc-sandbox verify": "the story of svc-sandbox.yaml",
    "svc-sandbox verify my.yaml --watch": "again whenever the file changes",
    "svc-sandbox verify scenarios/*.yaml --quiet": "many, for CI: only what failed",
    "svc-sandbox verify --all --profile varied": "every bundled story, in another profile",
  },
  async run(call) {
    const { words, flags, io } = call;
    const named = () => namedOrOwn(words, "verify", io, ", or give --all for every bundled one");
    const names = [...new Set(flags.all === true ? [...scenarioNames, ...words] : named())];
    return flags.watch === true ? verifyOnChange(names, call) : (await verifyAll(names, call)).exitCode;
  },
});

// Verifies the scenarios, and again whenever one of their files changes, until stopped.
async function verifyOnChange(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  const stop = io.stopSignal();
  const log = await createLog(flags, io);
  if (names.every(isScenarioName)) {
    log.note(
      `Nothing to watch: these scenarios are bundled. Copy one with \`${io.program} show <name> > my.yaml\`.`,
    );
    return (await verifyAll(names, call)).exitCode;
  }
  const { FileWatch } = await import("../../node/files/watch.js");
  const run = async () => {
    if (stop.aborted) return;
    const readAt = nodePlatform.time();
    const { files } = await verifyAll(names, call);
    await watching.follow(files, readAt);
    log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  const watching = new FileWatch(() => run().catch((error) => log.problem(describeFailure(error, flags))));
  await run();
  await aborted(stop);
  await watching.close();
  return exitCode.fine;
}

// A broken scenario does not stop the others, but a name that nothing has is probably misspelled.
async function verifyAll(names: readonly string[], call: VerifyCall) {
  const { flags, io } = call;
  const { quiet = false, watch = false } = flags;
  const byName = new Map<string, Verified>();
  const loads = names.map((name) => [name, loadScenario(name, io)] as const);
  const settled = await Promise.allSettled(loads.map(([, loading]) => loading));
  // What cannot be read is reported before the first story is played.
  const ofStatus = (status: string) => loads.filter((_, index) => settled[index]?.status === status);
  const isUnknown = (result: (typeof settled)[number]) =>
    result.status === "rejected" && (result.reason as SandboxError).code === "scenario_not_found";
  // With --watch, the file may come.
  const playsNone = !watch && settled.some(isUnknown);
  for (const [name, loading] of [...ofStatus("rejected"), ...(playsNone ? [] : ofStatus("fulfilled"))]) {
    const outcome = await verifiedAs(name, loading, call);
    // Separates long texts.
    const isLater = !quiet && [...byName.values()].some(({ text }) => text !== undefined);
    if (!flags.json && outcome.text !== undefined) io.stdout.say(`${isLater ? "\n" : ""}${outcome.text}`);
    if (!flags.json && outcome.error !== undefined) io.stderr.say(`${outcome.error}\n`);
    byName.set(name, outcome);
  }
  const outcomes = names.flatMap((name) => byName.get(name) ?? []);
  const failed = outcomes.filter((outcome) => outcome.exitCode !== exitCode.fine).length;
  const wasRead = outcomes.some(({ text }) => text !== undefined);
  if (flags.json) {
    // With --watch, each document is on a separate line.
    const documents = outcomes.map((outcome) => outcome.json);
    io.stdout.write(`${redactKeys(JSON.stringify(documents, null, watch ? 0 : 2))}\n`);
  } else if (outcomes.length > 1 && wasRead && (failed > 0 || !quiet)) {
    io.stdout.say(totalText(outcomes.length, failed, io.stdout.style().palette));
  }
  return {
    exitCode: Math.max(...outcomes.map((outcome) => outcome.exitCode)),
    files: [...new Set(outcomes.flatMap(({ files }) => files))],
  };
}

function totalText(count: number, failed: number, { green, red }: Palette): string {
  const total = pluralize(count, "scenario");
  if (failed === 0) return `\n${green(`${total}: all passed`)}\n`;
  return `\n${red(`${total}: ${failed} failed`)}\n`;
}

interface Verified {
  readonly exitCode: number;
  readonly files: readonly string[];
  readonly error: string | undefined;
  /** `undefined` if the scenario could not be read. */
  readonly text: string | undefined;
  readonly json: unknown;
}

async function verifiedAs(
  name: string,
  loading: Promise<LoadedScenario>,
  { flags, io }: VerifyCall,
): Promise<Verified> {
  try {
    const loaded = await loading;
    const verdict = await verdictOn(loaded, flags, io.cwd);
    return {
      exitCode: verdict.passed ? exitCode.fine : exitCode.failed,
      files: loaded.files,
      error: undefined,
      text: verdictText(verdict, io.stdout.style(), flags.quiet === true),
      json: verdictJson(verdict),
    };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    // A problem may be in a file that the scenario extends.
    const placed = error instanceof ScenarioError ? error.problems.map(({ file }) => file ?? name) : [];
    return {
      exitCode: exitCodeOf(error),
      // Absolute, including broken and missing ones.
      files: isScenarioName(name) ? [] : [name, ...placed].map((file) => resolve(io.cwd, file)),
      text: undefined,
      error: printable(redactKeys(error.message)),
      json: { name, passed: false, problems: problemsJson(error, name), steps: [] },
    };
  }
}
