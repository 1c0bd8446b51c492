import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { type CommandCall, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf } from "../exit-codes.js";
import * as flag from "../flags.js";
import { openScenarioArgument, problemsJson, scenarioArgumentsOrDefault } from "../scenario.js";
import * as shared from "../shared-flags.js";
import { testStory } from "../story.js";

const verifyFlags = {
  all: flag.toggle("--all", "every bundled scenario"),
  ...shared.sandboxFlagsWithoutFrozen,
  json: shared.json,
  quiet: shared.quiet("only what failed"),
};
type VerifyCall = CommandCall<flag.FlagValues<typeof verifyFlags>>;

export const verifyCommand = declareCommand({
  summary: "run the stories of scenarios as tests",
  description:
    "Runs the story of each scenario without waiting, in its own sandbox with a frozen clock that only the story moves, and prints the result of each step. A story ends with its first unexpected result, and its place in the file is shown. Exits with 1 if a story fails or is missing, with 2 if a scenario cannot be read.",
  args: { "[scenario...]": "bundled names or files (default: svc-sandbox.yaml)" },
  flags: verifyFlags,
  examples: {
    "svc-sandbox verify": "the story of svc-sandbox.yaml",
    "svc-sandbox verify scenarios/*.yaml --quiet": "many, for CI: only what failed",
    "svc-sandbox verify --all --profile varied": "every bundled story, in another profile",
  },
  async run(call) {
    const { args, flags, io } = call;
    const orAll = ", or give --all for every bundled one";
    const wanted =
      flags.all === true
        ? [...scenarioNames, ...args]
        : scenarioArgumentsOrDefault(args, "verify", io, orAll);
    // A scenario that is named twice is verified once.
    const names = [...new Set(wanted)];
    return verifyAll(names, call);
  },
});

/** What came of one scenario. */
interface Verdict {
  readonly exitCode: number;
  readonly json: unknown;
}

/** Reads the scenarios, plays their stories, and prints what comes of each. A broken scenario does not stop the others. Resolves to the worst exit code. */
async function verifyAll(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  // If the folder was deleted, this throws, in place of an error for each scenario.
  void io.cwd;
  const verdicts: Verdict[] = [];
  for (const name of names) {
    // An empty line separates long texts.
    const gap = verdicts.length > 0 && !flags.quiet ? "\n" : "";
    verdicts.push(await verifyOne(name, call, gap));
  }

  if (flags.json) {
    const documents = verdicts.map(({ json }) => json);
    io.stdout.write(`${JSON.stringify(documents, null, 2)}\n`);
  } else sayTotal(verdicts, call);
  return Math.max(...verdicts.map((verdict) => verdict.exitCode));
}

/** Plays the story of a scenario and prints what comes of it, or why it cannot be read or started. */
async function verifyOne(name: string, { flags, io }: VerifyCall, gap: string): Promise<Verdict> {
  try {
    const opened = await openScenarioArgument(name, io);
    const { passed, text, json } = await testStory(opened, flags, io.stdout.style());
    if (!flags.json) io.stdout.say(gap + text);
    return { exitCode: passed ? exitCode.fine : exitCode.failed, json };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    if (!flags.json) io.stderr.say(describeFailure(error, {}));
    const problems = problemsJson(error, name);
    return { exitCode: exitCodeOf(error), json: { name, passed: false, problems, steps: [] } };
  }
}

/** Prints how many of several scenarios failed. */
function sayTotal(verdicts: readonly Verdict[], { flags, io }: VerifyCall): void {
  const failed = verdicts.filter((verdict) => verdict.exitCode !== exitCode.fine).length;
  if (verdicts.length === 1) return;
  if (failed === 0 && flags.quiet) return;

  const { palette } = io.stdout.style();
  const total = pluralize(verdicts.length, "scenario");
  if (failed === 0) io.stdout.say(`\n${palette.green(`${total}: all passed`)}\n`);
  else io.stdout.say(`\n${palette.red(`${total}: ${failed} failed`)}\n`);
}
