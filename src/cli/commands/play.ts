import { runStory } from "../../api/story/run-story.js";
import { stepView } from "../../api/story/step-view.js";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import { startInNode } from "../../node/platform.js";
import { shellWord } from "../../report/curl-line.js";
import { pluralize } from "../../report/plain-text.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { isAsExpected, type PlayedStep } from "../../sandbox/steps.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import { quote } from "../../schema/words.js";
import { type CommandCall, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { openScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";
import { openingProse, type PlacedDifference, placeDifferences, stepProse } from "../story-text.js";

const readSpeed = flag.readerOf((text) => {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  return speed > 0 && Number.isFinite(speed) ? speed : undefined;
}, "a number above 0, such as 2 or 0.5, or max not to wait at all");

const playFlags = {
  speed: flag.option(
    "--speed <number>",
    "how fast to play it: 2 is twice as fast, max does not wait (default: 1; max in a pipe)",
    readSpeed,
    { conflicts: ["json"] },
  ),
  step: flag.toggle("--step", "wait after each step until Enter or Space is pressed; q ends", {
    conflicts: ["json", "speed"],
  }),
  ...shared.sandboxFlagsWithoutFrozen,
  json: shared.json,
};
type PlayCall = CommandCall<flag.FlagValues<typeof playFlags>>;

export const playCommand = declareCommand({
  summary: "play the story of a scenario to an audience",
  description:
    "Plays a story: the narration, each request, its response, and the clock; with pauses to read, or step by step. Keys appear as refs. Continues after an unexpected response, and then exits with 1.",
  args: shared.scenarioArgument,
  flags: playFlags,
  examples: {
    "svc-sandbox play rotation": "with time to read",
    "svc-sandbox play rotation --step": "Enter for the next step, q to end",
    "svc-sandbox play my.yaml --json": "for machines: a line for each step",
  },
  async run(call) {
    const { args, flags, io } = call;
    const opened = await openScenarioArgument(args[0], io);
    const { name, scenario } = opened.loaded;
    const { story = [] } = scenario;
    if (story.length === 0) {
      throw usageError(
        `The scenario ${quote(name)} has no story. Each bundled scenario has one: ${io.program} play rotation`,
      );
    }

    // Only the story moves the clock.
    const stopSignal = io.stopSignal();
    const sandbox = startInNode(opened.loaded, { ...flags, frozen: true });
    const pauses = await createPauses(call, stopSignal);
    try {
      const keyboardHelp = flags.step ? stepKeysHelp : "";
      const outline = `${pluralize(story.length, "step")}.${keyboardHelp}`;
      if (!flags.json) io.stdout.say(openingProse(sandbox, outline, io.stdout.style()));
      return await playAll(sandbox, opened, pauses, call);
    } finally {
      pauses.close();
    }
  },
});

/** Plays the story to its end, or until the user ends it; resolves to the exit code, which depends only on the steps that were played. */
async function playAll(
  sandbox: SandboxState,
  opened: OpenedScenario,
  pauses: Pauses,
  call: PlayCall,
): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  let steps = 0;
  let isEndedByUser = false;
  for (const result of runStory(sandbox)) {
    steps = result.number;
    let problems: readonly PlacedDifference[] = [];
    if (!isAsExpected(result)) {
      // The story continues: an audience is waiting.
      unexpected += 1;
      problems = placeDifferences(result, await opened.places());
    }

    const style = io.stdout.style();
    const text = stepProse(result, problems, sandbox, style);
    if (flags.json) {
      const stepJson = JSON.stringify(membersToSnakeCase(stepView(result)));
      io.stdout.write(`${redactPlainKeys(stepJson)}\n`);
    } else io.stdout.say(text);

    const isLast = result.number === result.of;
    if (isLast) break;
    if ((await pauses.waitAfter(result, text)) === "next") continue;
    isEndedByUser = true;
    break;
  }

  if (isEndedByUser) {
    // The echo of Ctrl-C is where the shell would write its prompt.
    if (io.stdout.isTTY === true) io.stdout.write("\n");
  } else if (!flags.json) {
    const summary = unexpected === 0 ? "all as expected" : `${unexpected} not as expected`;
    io.stdout.say(`The end: ${pluralize(steps, "step")}, ${summary}.\n`);
  }
  if (unexpected === 0) return exitCode.fine;
  io.stderr.say(`Unexpected results: ${pluralize(unexpected, "step")}.${whereToSee(opened, call)}\n`);
  return exitCode.failed;
}

/** How to see an unexpected result in its file. A scenario from stdin has none. */
function whereToSee({ origin, loaded }: OpenedScenario, { flags, io }: PlayCall): string {
  if (origin === "stdin") return "";
  const { seed, now, profile } = flags;
  const words = ["verify", loaded.name];
  if (seed !== undefined) words.push("--seed", String(seed));
  if (now !== undefined) words.push("--now", isoTime(now));
  if (profile !== undefined) words.push("--profile", profile);
  return ` To see the first in its file: ${io.program} ${words.map(shellWord).join(" ")}`;
}

/** The time between two steps. */
export interface Pauses {
  /** Waits after a step with this text; resolves to what follows: the next step, or the end that the user asked for. */
  readonly waitAfter: (result: PlayedStep, shown: string) => Promise<"next" | "end">;
  readonly close: () => void;
}

interface PauseFlags {
  readonly speed?: number;
  readonly step?: boolean;
  readonly json?: boolean;
}

/** The pauses that the flags set: until a key is pressed, with time to read, or none. */
export async function createPauses(
  { flags, io }: Pick<CommandCall<PauseFlags>, "flags" | "io">,
  stop: AbortSignal,
): Promise<Pauses> {
  if (flags.step) return createKeyPauses(io, stop);

  // A program that reads the output waits for nothing.
  const standardSpeed = io.stdout.isTTY ? 1 : Number.POSITIVE_INFINITY;
  const speed = flags.json ? Number.POSITIVE_INFINITY : (flags.speed ?? standardSpeed);
  return {
    async waitAfter({ kind }, shown) {
      // People read narration word by word, and only skim requests.
      const perCharacter = kind === "request" ? 18 : 50;
      const time = shown.replace(/\s+/g, "").length * perCharacter;
      const pause = Math.min(12_000, Math.max(1200, time)) / speed;
      if (pause > 0) await io.wait(pause, stop);
      return stop.aborted ? "end" : "next";
    },
    close() {},
  };
}

/** What the keyboard does with --step, for the outline of a story. */
export const stepKeysHelp = " Enter or Space: the next step. q: the end.";

// Presenters' clickers press Page Down.
const keysForNextStep = ["return", "enter", "space", "right", "down", "pagedown"];

const keysForTheEnd = ["q", "escape", "ctrl-c", "ctrl-d"];

/** Pauses that end with a key. */
async function createKeyPauses(io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "--step (or SVC_SANDBOX_STEP) requires a terminal, and the input is not one. Remove it; --speed 1 leaves time to read.",
    );
  }

  const stopped = aborted(stop).then(() => "ctrl-c");
  return {
    async waitAfter() {
      for (;;) {
        const key = await Promise.race([stopped, presses.next()]);
        if (keysForTheEnd.includes(key)) return "end";
        if (keysForNextStep.includes(key)) return "next";
      }
    },
    close: presses.close,
  };
}
