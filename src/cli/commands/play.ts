import { storySender } from "../../api/story-sender.js";
import { stepJson } from "../../node/step-data.js";
import { pluralize, shellWord } from "../../report/plain-text.js";
import { redactKeys } from "../../rules/redact.js";
import { quote } from "../../rules/schema/words.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { isAsExpected, type PlayedStep } from "../../sandbox/steps.js";
import { tryNextStep } from "../../sandbox/story/run-step.js";
import { type CallOf, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { openingProse, stepProse } from "../story/step-prose.js";
import { placeProblems } from "../story/verdict.js";

const readSpeed = flag.reader((text) => {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  return speed > 0 && Number.isFinite(speed) ? speed : undefined;
}, "a number above 0, such as 2 or 0.5, or max not to wait at all");

const flags = {
  speed: flag.option(
    "--speed <number>",
    "how fast to play it: 2 is twice as fast, 0.5 half, max does not wait (default: 1; max in a pipe)",
    readSpeed,
  ),
  step: flag.toggle("--step", "wait after each step until Enter or Space is pressed; q ends", {
    conflicts: ["json"],
  }),
  ...flag.ofSandbox,
  json: flag.json,
};
type PlayCall = CallOf<typeof flags>;

export const playCommand = declareCommand({
  summary: "play the story of a scenario to an audience",
  description:
    "Plays a story: the narration, each request, its response, and the clock; with pauses to read, or step by step. Keys appear as refs. Continues after an unexpected response, and then exits with 1.",
  words: flag.scenarioWord,
  flags,
  examples: {
    "svc-sandbox play rotation": "with time to read",
    "svc-sandbox play rotation --step": "Enter for the next step, q to end",
    "svc-sandbox play my.yaml --json": "for machines: a line for each step",
  },
  async run(call) {
    const { words, flags, io } = call;
    const loaded = await loadNamed(words[0], io, flags);
    const { story = [] } = loaded.scenario;
    if (story.length === 0) {
      throw usageError(
        `The scenario ${quote(loaded.name)} has no story. Each bundled scenario has one: ${io.program} play rotation`,
      );
    }
    const stop = io.stopSignal();
    const sandbox = startNamed(loaded, { ...flags, frozen: true });
    const pauses = await pausesFor(call, stop);
    try {
      const outline = `${pluralize(story.length, "step")}.${flags.step ? stepKeys : ""}`;
      if (!flags.json) io.stdout.say(openingProse(sandbox, outline, io.stdout.style()));
      return await playAll(sandbox, loaded.name, pauses, call);
    } finally {
      pauses.close();
    }
  },
});

// Resolves to the exit code once the story or the user ends it.
async function playAll(sandbox: SandboxState, name: string, pauses: Pauses, call: PlayCall): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  let steps = 0;
  let earlier: PlayedStep | undefined;
  for (;;) {
    const result = tryNextStep(sandbox, storySender(sandbox));
    if (result === undefined) break;
    if (!isAsExpected(result)) unexpected += 1;
    const problems = await placeProblems(result, name, io.cwd);
    const prose = stepProse(result, problems, sandbox, io.stdout.style(), earlier);
    steps = result.number;
    if (result.response !== null) earlier = result;
    if (flags.json) io.stdout.write(`${redactKeys(JSON.stringify(stepJson(result)))}\n`);
    else io.stdout.say(prose);
    if (result.number === result.of || (await pauses.after(result, prose))) continue;
    // The echo of Ctrl-C is where the shell would write its prompt.
    if (io.stdout.isTTY === true) io.stdout.write("\n");
    return exitCode.fine;
  }
  if (!flags.json) {
    const summary = unexpected === 0 ? "all as expected" : `${unexpected} not as expected`;
    io.stdout.say(`The end: ${pluralize(steps, "step")}, ${summary}.\n`);
  }
  if (unexpected === 0) return exitCode.fine;
  io.stderr.say(
    `Unexpected results: ${pluralize(unexpected, "step")}. To see the first in its file: ${io.program} verify ${shellWord(name)}\n`,
  );
  return exitCode.failed;
}

interface Pauses {
  /** Waits after a step with this text; resolves to whether to continue. */
  readonly after: (result: PlayedStep, shown: string) => Promise<boolean>;
  readonly close: () => void;
}

// Returns the pauses that the flags set: until a key is pressed, with time to read, or none.
async function pausesFor({ flags, io }: PlayCall, stop: AbortSignal): Promise<Pauses> {
  if (flags.step) return untilKeys(io, stop);
  const speed = flags.json
    ? Number.POSITIVE_INFINITY
    : (flags.speed ?? (io.stdout.isTTY ? 1 : Number.POSITIVE_INFINITY));
  return {
    async after({ kind }, shown) {
      // People read narration word by word, and only skim requests.
      const perCharacter = kind === "request" ? 18 : 50;
      const time = shown.replace(/\s+/g, "").length * perCharacter;
      const pause = Math.min(12_000, Math.max(1200, time)) / speed;
      if (pause > 0) await io.wait(Math.min(pause, longestPause), stop);
      return !stop.aborted;
    },
    close() {},
  };
}

// The maximum of timers, which would not wait for longer.
const longestPause = 2 ** 31 - 1;

const stepKeys = " Enter or Space: the next step. q: the end.";
// Presenters' clickers press Page Down.
const forward = ["return", "enter", "space", "right", "down", "pagedown"];
const ends = ["q", "escape", "ctrl-c", "ctrl-d"];

async function untilKeys(io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "--step (or SVC_SANDBOX_STEP) requires a terminal, and the input is not one. Remove it; --speed 1 leaves time to read.",
    );
  }
  const { next, close } = presses;
  const stopped = aborted(stop).then(() => "ctrl-c");
  return {
    async after() {
      for (;;) {
        const key = await Promise.race([stopped, next()]);
        if (ends.includes(key)) return false;
        if (forward.includes(key)) return true;
      }
    },
    close,
  };
}
