import { storySender } from "../../api/handle.js";
import { stepJson } from "../../node/step-data.js";
import { pluralize, shellWord } from "../../report/plain-text.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { isAsExpected } from "../../sandbox/steps.js";
import { tryNextStep } from "../../sandbox/story/run-step.js";
import { redactKeys } from "../../spec/redact.js";
import { quote } from "../../spec/schema/words.js";
import {
  type CommandCall,
  declareCommand,
  type FlagValues,
  option,
  reader,
  scenarioWord,
  toggle,
} from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { changes, color, json, worldFlags } from "../flags.js";
import { programName } from "../io.js";
import { loadNamed, openNamed, withChanges } from "../open-scenario.js";
import { type Pauses, pausesFor } from "../story/pauses.js";
import { openingProse, stepProse } from "../story/step-prose.js";
import { placeProblems } from "../story/verdict.js";
import { type Style, styleFor, tell, writeData } from "../terminal.js";

const readSpeed = reader((text) => {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  return speed > 0 && Number.isFinite(speed) ? speed : undefined;
}, "a number above 0, such as 2 or 0.5, or max not to wait at all");

const flags = {
  speed: option(
    "--speed <number>",
    "how fast to play it: 2 is twice as fast, 0.5 half, max does not wait (default: 1; max in a pipe)",
    readSpeed,
  ),
  step: toggle("--step", "wait after each step until Enter or Space is pressed; q ends", {
    conflicts: ["json"],
  }),
  ...worldFlags,
  changes,
  json,
  color,
};
type PlayCall = CommandCall<FlagValues<typeof flags>>;

export const command = declareCommand({
  summary: "play the story of a scenario to an audience",
  description:
    "Plays a story: the narration, each request, its response, and the clock; with pauses to read, or step by step. Keys appear as refs. Continues after an unexpected response, and then exits with 1.",
  words: scenarioWord,
  flags,
  examples: {
    "svc-sandbox play rotation": "with time to read",
    "svc-sandbox play rotation --step": "Enter for the next step, q to end",
    "svc-sandbox play my.yaml --json": "for machines: a line for each step",
  },
  async run(call) {
    const { words, flags, io } = call;
    const loaded = await withChanges(await loadNamed(words[0], io), flags.changes, io);
    const { story = [] } = loaded.scenario;
    if (story.length === 0) {
      throw usageError(
        `The scenario ${quote(loaded.name)} has no story. Each bundled scenario has one: ${programName(io.env)} play rotation`,
      );
    }
    const stop = io.stopSignal();
    const world = openNamed(loaded, { ...flags, frozen: true });
    const pauses = await pausesFor(flags, io, stop);
    try {
      const outline = [`${pluralize(story.length, "step")}.`, pauses.keys].filter(Boolean).join(" ");
      if (flags.json !== true) tell(io.stdout, openingProse(world, outline, proseStyle(call)));
      return await playAll(world, loaded.name, pauses, call);
    } finally {
      pauses.close();
    }
  },
});

// Resolves to the exit code once the story or the user ends it.
async function playAll(world: SandboxState, name: string, pauses: Pauses, call: PlayCall): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  for (;;) {
    const result = tryNextStep(world, storySender(world));
    if (result === undefined) break;
    if (!isAsExpected(result)) unexpected += 1;
    const problems = await placeProblems(result, name, io.cwd);
    const shown =
      flags.json === true
        ? `${redactKeys(JSON.stringify(stepJson(result)))}\n`
        : stepProse(result, problems, world, proseStyle(call));
    if (flags.json === true) writeData(io.stdout, shown);
    else tell(io.stdout, shown);
    if (result.number === result.of || (await pauses.after(result, shown))) continue;
    // The echo of Ctrl-C is where the shell would write its prompt.
    if (io.stdout.isTTY === true) tell(io.stdout, "\n");
    return exitCode.fine;
  }
  if (unexpected === 0) return exitCode.fine;
  tell(
    io.stderr,
    `Unexpected results: ${pluralize(unexpected, "step")}. To see the first in its file: ${programName(io.env)} verify ${shellWord(name)}\n`,
  );
  return exitCode.failed;
}

// Longer lines of JSON are hard to read.
function proseStyle({ flags, io: { stdout, env } }: PlayCall): Style {
  const style = styleFor(stdout, env, flags);
  return { ...style, width: Math.max(20, Math.min(100, style.width)) };
}
