import { pluralize } from "../../report/plain-text.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { type CommandCall, declareCommand } from "../command.js";
import { describeFailure, exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import * as shared from "../flags/shared-flags.js";
import { scenarioArgumentsOrDefault, stdinName } from "../scenario/open-scenario.js";
import { createLog } from "../serve/log.js";
import {
  type NotPlayed,
  openToVerify,
  playStory,
  type ScenarioToVerify,
  type Verdict,
} from "../story/verdict.js";

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
    const verified = await verifyAll(names, call);
    return verified.exitCode;
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
    const verified = await verifyAll(names, call);
    return verified.exitCode;
  }

  const { VerifyOnChange } = await import("../story/verify-on-change.js");
  const verifying = new VerifyOnChange({
    verify: async () => (await verifyAll(names, call)).files,
    output: io.stdout,
    onWait: () => log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`),
    onError: (error) => log.problem(describeFailure(error, flags)),
    stop,
  });
  await verifying.run();
  return exitCode.fine;
}

/** What came of several scenarios. */
interface Verification {
  readonly exitCode: number;
  /** The files to follow with `--watch`. */
  readonly files: readonly string[];
}

/** Reads the scenarios, plays their stories, and prints what comes of each. A broken scenario does not stop the others. */
async function verifyAll(names: readonly string[], call: VerifyCall): Promise<Verification> {
  const { flags } = call;
  const scenarios = await Promise.all(names.map((name) => openToVerify(name, call.io)));

  // What cannot be read is reported before the first story is played.
  const unreadable = scenarios.filter((scenario) => scenario.kind === "not_played");
  for (const verdict of unreadable) sayNotPlayed(verdict, call);

  // A name that nothing has is probably misspelled, so no story is played. While --watch waits, its file may still come.
  const isMisspelled = unreadable.some(({ isUnknown }) => isUnknown) && !flags.watch;
  if (isMisspelled) {
    if (flags.json) writeDocuments(unreadable, call);
    return verificationOf(unreadable);
  }

  const verdicts = await playStories(scenarios, call);
  if (flags.json) writeDocuments(verdicts, call);
  else if (verdicts.some(({ kind }) => kind === "played")) sayTotal(verdicts, call);
  return verificationOf(verdicts);
}

/** Prints the verdicts as JSON. */
function writeDocuments(verdicts: readonly Verdict[], { flags, io }: VerifyCall): void {
  const documents = verdicts.map(({ json }) => json);
  // With --watch, each document is on a separate line.
  const indent = flags.watch ? 0 : 2;
  io.stdout.write(`${redactPlainKeys(JSON.stringify(documents, null, indent))}\n`);
}

function verificationOf(verdicts: readonly Verdict[]): Verification {
  const files = new Set<string>();
  for (const verdict of verdicts) {
    for (const file of verdict.files) files.add(file);
  }
  return { exitCode: Math.max(...verdicts.map((verdict) => verdict.exitCode)), files: [...files] };
}

/** Plays the story of each scenario that could be read, and prints its verdict as it comes. Why others were not read is printed already. */
async function playStories(
  scenarios: readonly (ScenarioToVerify | NotPlayed)[],
  call: VerifyCall,
): Promise<Verdict[]> {
  const { flags, io } = call;
  const verdicts: Verdict[] = [];
  let gap = "";
  for (const scenario of scenarios) {
    if (scenario.kind === "not_played") {
      verdicts.push(scenario);
      continue;
    }

    const verdict = await playStory(scenario, call);
    verdicts.push(verdict);
    if (verdict.kind === "not_played") {
      sayNotPlayed(verdict, call);
    } else if (!flags.json) {
      io.stdout.say(gap + verdict.text);
      // An empty line separates long texts.
      if (!flags.quiet) gap = "\n";
    }
  }
  return verdicts;
}

function sayNotPlayed({ error }: NotPlayed, { flags, io }: VerifyCall): void {
  if (!flags.json) io.stderr.say(`${error}\n`);
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
