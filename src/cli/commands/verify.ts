import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { type CommandCall, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { createLog } from "../log.js";
import { openScenarioArgument, problemsJson, scenarioArgumentsOrDefault, stdinName } from "../scenario.js";
import * as shared from "../shared-flags.js";
import { testStory } from "../story.js";
import { readOnChange } from "../watch.js";

const verifyFlags = {
  all: flag.toggle("--all", "every bundled scenario"),
  // No variable: one for `start` would keep it running.
  watch: flag.toggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C"),
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
    "svc-sandbox verify my.yaml --watch": "again whenever the file changes",
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
    if (flags.watch === true) return verifyOnChange(names, call);
    const verdicts = await verifyAll(names, call);
    return worstCode(verdicts);
  },
});

/** Verifies the scenarios, and with a file among them again whenever one of their files changes, until stopped. */
async function verifyOnChange(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  const stop = io.stopSignal();
  const log = await createLog(flags, io);

  const hasFile = names.some((name) => name !== stdinName && !isScenarioName(name));
  if (!hasFile) {
    log.note("Nothing to watch: none of these scenarios is a file.");
    return worstCode(await verifyAll(names, call));
  }
  if (names.includes(stdinName)) {
    throw usageError("--watch verifies again, and - can be read only once. Leave out one of them.");
  }

  // Nobody waits for the next result once the reader of the results is gone.
  const readerGone = new AbortController();
  const verify = async (onFile: (file: string) => void) => {
    await verifyAll(names, call, onFile);
    const isRead = await io.stdout.waitForReader(stop);
    if (!isRead) readerGone.abort();
    else log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  await readOnChange(verify, AbortSignal.any([stop, readerGone.signal]));
  return exitCode.fine;
}

/** What came of one scenario. */
interface Verdict {
  readonly exitCode: number;
  readonly json: unknown;
}

function worstCode(verdicts: readonly Verdict[]): number {
  return Math.max(...verdicts.map((verdict) => verdict.exitCode));
}

/**
 * Reads the scenarios, plays their stories, and prints what comes of each. A broken scenario does not stop the others. `onFile` gets
 * each file that is read or looked for: its change may change what comes of a scenario.
 */
async function verifyAll(
  names: readonly string[],
  call: VerifyCall,
  onFile: (file: string) => void = () => {},
): Promise<readonly Verdict[]> {
  const { flags, io } = call;
  // If the folder was deleted, this throws, in place of an error for each scenario.
  void io.cwd;
  const verdicts: Verdict[] = [];
  for (const name of names) {
    // An empty line separates long texts.
    const gap = verdicts.length > 0 && !flags.quiet ? "\n" : "";
    verdicts.push(await verifyOne(name, call, gap, onFile));
  }

  if (flags.json) {
    const documents = verdicts.map(({ json }) => json);
    // With --watch, each document is on a separate line.
    io.stdout.write(`${JSON.stringify(documents, null, flags.watch ? 0 : 2)}\n`);
  } else sayTotal(verdicts, call);
  return verdicts;
}

/** Plays the story of a scenario and prints what comes of it, or why it cannot be read or started. */
async function verifyOne(
  name: string,
  { flags, io }: VerifyCall,
  gap: string,
  onFile: (file: string) => void,
): Promise<Verdict> {
  try {
    const opened = await openScenarioArgument(name, io, { onFile });
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
