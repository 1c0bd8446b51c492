import type { OpenedScenario } from "../../node/files/scenario-files.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { safeOutput } from "../../rules/terminal-text.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { type CommandCall, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted } from "../io.js";
import { createLog } from "../log.js";
import { openScenarioArgument, problemsJson, scenarioArgumentsOrDefault, stdinName } from "../scenario.js";
import * as shared from "../shared-flags.js";
import { testStory } from "../story.js";
import { FileStates, FileWatch } from "../watch.js";

const verifyFlags = {
  all: flag.cliOnlyToggle("--all", "every bundled scenario"),
  // No variable: one for `start` would keep it running.
  watch: flag.cliOnlyToggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C"),
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
  modes: [
    {
      name: "verify --json",
      // With --watch there are notes besides the JSON, which --quiet leaves out.
      when: ({ flags }) => flags.json && !flags.watch,
      flags: flag.flagNamesOf(verifyFlags, ["quiet", "watch"]),
    },
    { name: "verify", flags: flag.flagNamesOf(verifyFlags) },
  ],
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
  const hasStdin = names.includes(stdinName);
  if (hasFile && hasStdin) {
    throw usageError("--watch verifies again, and - can be read only once. Leave out one of them.");
  }
  if (!hasFile) {
    const copy = `Copy one with \`${io.program} show <name> > my.yaml\`.`;
    const why = hasStdin ? "the scenario came from stdin." : `these scenarios are bundled. ${copy}`;
    log.note(`Nothing to watch: ${why}`);
    return worstCode(await verifyAll(names, call));
  }

  // Nobody waits for the next result once the reader of the results is gone.
  const readerGone = new AbortController();
  const verify = async (states: FileStates) => {
    await verifyAll(names, call, (file) => states.addUnread(file));
    const isRead = await io.stdout.waitForReader(stop);
    if (!isRead) return () => readerGone.abort();
    return () => log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  const watch = new FileWatch(async () => {
    const states = new FileStates();
    try {
      return { states, onFollowed: await verify(states) };
    } catch (error) {
      return { states, onFollowed: () => log.problem(describeFailure(error, flags)) };
    }
  });

  const states = new FileStates();
  const onFollowed = await verify(states);
  watch.start(states);
  onFollowed();
  await aborted(AbortSignal.any([stop, readerGone.signal]));
  await watch.close();
  return exitCode.fine;
}

/** What came of one scenario. */
interface Verdict {
  /** Whether its story was played; `unknown`: nothing has its name. */
  readonly kind: "played" | "not_played" | "unknown";
  readonly exitCode: number;
  /** The steps of the story; or why it was not played. */
  readonly text: string;
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
  const openOrTell = (name: string) =>
    openScenarioArgument(name, io, { onFile }).catch((error) => verdictOfFailure(name, error));
  const scenarios = await Promise.all(names.map(openOrTell));

  // What cannot be read is reported before the first story is played.
  const unreadable: Verdict[] = [];
  for (const scenario of scenarios) {
    if (!("kind" in scenario)) continue;
    unreadable.push(scenario);
    if (!flags.json) io.stderr.say(`${scenario.text}\n`);
  }

  // A name that nothing has is probably misspelled, so no story is played. While --watch waits, its file may still come.
  const isMisspelled = unreadable.some(({ kind }) => kind === "unknown") && !flags.watch;
  const verdicts = isMisspelled ? unreadable : await playStories(names, scenarios, call);

  if (flags.json) {
    const documents = verdicts.map(({ json }) => json);
    // With --watch, each document is on a separate line.
    const indent = flags.watch ? 0 : 2;
    io.stdout.write(`${redactPlainKeys(JSON.stringify(documents, null, indent))}\n`);
  } else if (verdicts.some(({ kind }) => kind === "played")) sayTotal(verdicts, call);
  return verdicts;
}

/** Plays the stories of scenarios, those of these names, and prints each; one that cannot be read has its verdict already. */
async function playStories(
  names: readonly string[],
  scenarios: readonly (OpenedScenario | Verdict)[],
  call: VerifyCall,
): Promise<readonly Verdict[]> {
  const { flags, io } = call;
  const verdicts: Verdict[] = [];
  let gap = "";
  for (const [index, scenario] of scenarios.entries()) {
    if ("kind" in scenario) {
      verdicts.push(scenario);
      continue;
    }

    const verdict = await playStory(names[index] as string, scenario, call);
    verdicts.push(verdict);
    if (flags.json) continue;
    if (verdict.kind !== "played") {
      io.stderr.say(`${verdict.text}\n`);
      continue;
    }
    io.stdout.say(gap + verdict.text);
    // An empty line separates long texts.
    if (!flags.quiet) gap = "\n";
  }
  return verdicts;
}

/** Plays the story of a scenario. One that cannot be started is not played. */
async function playStory(name: string, opened: OpenedScenario, call: VerifyCall): Promise<Verdict> {
  const { flags, io } = call;
  try {
    const { passed, text, json } = await testStory(opened, flags, io.stdout.style());
    const code = passed ? exitCode.fine : exitCode.failed;
    return { kind: "played", exitCode: code, text, json };
  } catch (error) {
    return verdictOfFailure(name, error);
  }
}

/** The verdict on a scenario that cannot be read or started. */
function verdictOfFailure(name: string, error: unknown): Verdict {
  if (!(error instanceof SandboxError)) throw error;
  return {
    kind: error.code === "scenario_not_found" ? "unknown" : "not_played",
    exitCode: exitCodeOf(error),
    text: safeOutput(redactPlainKeys(error.message)),
    json: { name, passed: false, problems: problemsJson(error, name), steps: [] },
  };
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
