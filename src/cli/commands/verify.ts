import { resolve } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { loadScenario } from "../../node/files/load-scenario.js";
import { nodePlatform } from "../../node/platform.js";
import { pluralize } from "../../report/plain-text.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import { type Call, declareCommand, type FlagValues, toggle } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import { color, json, quiet, worldFlags } from "../flags.js";
import { aborted } from "../io.js";
import { problemsJson, withCount } from "../open-scenario.js";
import { createLog } from "../serve/log.js";
import { type StoryVerdict, verdictJson, verdictOn, verdictText } from "../story/verdict.js";
import { paletteFor, styleFor } from "../terminal.js";

const flags = {
  all: toggle("--all", "every bundled scenario", { variables: [] }),
  // No variable: one that is meant for `start` would let it never end.
  watch: toggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C", {
    variables: [],
  }),
  ...worldFlags,
  json,
  quiet,
  color,
};
type VerifyCall = Call<FlagValues<typeof flags>>;

export const command = declareCommand({
  summary: "run the stories of scenarios as tests",
  description:
    "Runs the story of each scenario without waiting, in a world of its own whose clock stands still until the story moves it, and says step by step what came of it. A story ends with the first step that is not as it expects; its place in the file is shown. Exits with 1 when a story does not hold or there is none, with 2 when a scenario cannot be read.",
  words: { "[scenario...]": "bundled names or files" },
  flags,
  examples: {
    "svc-sandbox verify my.yaml": "one story",
    "svc-sandbox verify my.yaml --watch": "again whenever the file changes",
    "svc-sandbox verify scenarios/*.yaml --quiet": "many, for CI: only what failed",
    "svc-sandbox verify --all --profile varied": "every bundled story, in another profile",
  },
  async run(call) {
    const names = namesIn(call);
    return call.flags.watch === true ? verifyOnChange(names, call) : exitCodeIn(await verifyAll(names, call));
  },
});

function namesIn({ words, flags }: VerifyCall): string[] {
  const names = new Set([...(flags.all === true ? scenarioNames : []), ...words]);
  if (names.size > 0) return [...names];
  throw usageError(
    "Failed to verify: no scenario was named. Name one or more, files or bundled names (`svc-sandbox list`), or give --all for every bundled one.",
  );
}

/** The outcome for one scenario. */
interface Outcome {
  readonly name: string;
  /** The files that it depends on, those that are broken or missing included; absolute. */
  readonly files: readonly string[];
  readonly exitCode: number;
  readonly verdict?: StoryVerdict;
  /** Why it could not be loaded. */
  readonly error?: SandboxError;
}

// Verifies the scenarios, and again whenever one of their files changes, until it is stopped.
async function verifyOnChange(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  const stop = io.stopSignal();
  const log = await createLog(flags, io);
  if (names.every(isScenarioName)) {
    log.note(
      "Nothing to watch: these scenarios are bundled. Copy one with `svc-sandbox show <name> > my.yaml`.",
    );
    return exitCodeIn(await verifyAll(names, call));
  }
  const { createWatch } = await import("../../node/files/watch.js");
  let followed = "";
  const run = async () => {
    if (stop.aborted) return;
    const readAt = nodePlatform.time();
    const files = [...new Set((await verifyAll(names, call)).flatMap((outcome) => outcome.files))].toSorted();
    if (files.join("\n") !== followed) await watching.follow(files, readAt);
    followed = files.join("\n");
    log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  const watching = createWatch(
    () => run().catch((error) => log.problem(describeFailure(error, flags))),
    (error) => log.problem(`Failed to watch: ${(error as Error).message}. Changes may go unseen.`),
  );
  await run();
  await aborted(stop);
  await watching.close();
  return exitCode.fine;
}

// A scenario that is broken does not hold up the others.
async function verifyAll(names: readonly string[], call: VerifyCall): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const outcome = await outcomeOf(name, call);
    if (call.flags.json !== true) print(outcome, outcomes.some(wasRead), call);
    outcomes.push(outcome);
  }
  printEnd(outcomes, call);
  return outcomes;
}

async function outcomeOf(name: string, { flags, io: { cwd } }: VerifyCall): Promise<Outcome> {
  try {
    const loaded = await loadScenario(name, { cwd });
    const verdict = await verdictOn(loaded, flags, cwd);
    return { name, verdict, files: loaded.files, exitCode: verdict.passed ? exitCode.fine : exitCode.failed };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    // A problem may stand in a file that the scenario extends.
    const placed = error instanceof ScenarioError ? error.problems.map(({ file }) => file ?? name) : [];
    const files = isScenarioName(name) ? [] : [name, ...placed].map((file) => resolve(cwd, file));
    return { name, error, files, exitCode: exitCodeOf(error) };
  }
}

function exitCodeIn(outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map((outcome) => outcome.exitCode));
}

function print({ name, verdict, error }: Outcome, isLater: boolean, { flags, io }: VerifyCall): void {
  if (verdict === undefined) {
    io.stderr.write(`${redactKeys((withCount(error, name) as SandboxError).message)}\n`);
    return;
  }
  const quiet = flags.quiet === true;
  const text = verdictText(verdict, styleFor(io.stdout, io.env, flags), quiet);
  // An empty line between what is long.
  io.stdout.write(isLater && !quiet ? `\n${text}` : text);
}

function printEnd(outcomes: readonly Outcome[], { flags, io }: VerifyCall): void {
  if (flags.json === true) {
    // With --watch one document comes after the other: each on a line of its own.
    const document = JSON.stringify(outcomes.map(jsonOf), null, flags.watch === true ? 0 : 2);
    io.stdout.write(`${redactKeys(document)}\n`);
    return;
  }
  // Where nothing could be read, stderr has said so already.
  if (outcomes.length < 2 || !outcomes.some(wasRead)) return;
  const failed = outcomes.filter(({ verdict }) => verdict?.passed !== true).length;
  if (flags.quiet === true && failed === 0) return;
  const { green, red } = paletteFor(io.stdout, io.env, flags);
  const total = pluralize(outcomes.length, "scenario");
  const verb = failed === 1 ? "does" : "do";
  const text = failed === 0 ? green(`${total}: all hold`) : red(`${total}: ${failed} ${verb} not hold`);
  io.stdout.write(`\n${text}\n`);
}

function wasRead({ verdict }: Outcome): boolean {
  return verdict !== undefined;
}

function jsonOf({ name, verdict, error }: Outcome): unknown {
  if (verdict !== undefined) return verdictJson(verdict);
  return { name, passed: false, problems: error && problemsJson(error, name), steps: [] };
}
