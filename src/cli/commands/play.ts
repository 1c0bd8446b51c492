import type { LoadedScenario } from "../../node/load-scenario.js";
import { createHost, type Host } from "../../sandbox/host.js";
import { quote } from "../../scenario/quote.js";
import type { Call, Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { givenIn, loadNamed, openNamed } from "../open-scenario.js";
import { paletteFor } from "../palette.js";
import { type Pauses, pausesFor } from "../pauses.js";
import { stepJsonLine } from "../play-json.js";
import { openingText, type Stage, stepText } from "../play-text.js";
import { serveStory } from "../serve-story.js";
import { isAsExpected, type TellingStep, tellStep } from "../tell-step.js";
import { usageError } from "../usage-error.js";
import { bundledWithStory, hasStory } from "../with-story.js";

const narrowest = 20;
const widest = 100;
const withoutTerminal = 80;

/** `svc-sandbox play` */
export const play: Run = async (call) => {
  const { words, flags, io } = call;
  if (flags.step === true && flags.json === true) {
    throw usageError(
      "Failed to read the command line: --step and --json contradict each other. Leave one out.",
    );
  }
  const loaded = await loadNamed(words[0], call);
  requireStory(loaded);
  const stop = io.stopSignal();
  const wanted = { ...flags, frozen: true };
  const host = createHost(() => openNamed(loaded, wanted), { given: givenIn(wanted) });
  const server = await serveStory(host, call);
  try {
    const pauses = await pausesFor(call, stop);
    try {
      return await tellAll(host, pauses, call, server !== undefined);
    } finally {
      pauses.close();
    }
  } finally {
    await server?.close();
  }
};

async function tellAll(host: Host, pauses: Pauses, call: Call, isServed: boolean): Promise<number> {
  const { flags, io } = call;
  if (flags.json !== true) io.stdout.write(openingText(host.world(), stageOf(call)));
  let slips = 0;
  for (let told = await tellStep(host); told !== undefined; told = await tellStep(host)) {
    const shown = flags.json === true ? stepJsonLine(told) : stepText(told, host.world(), stageOf(call));
    io.stdout.write(shown);
    if (isServed) announceNewKey(told, call);
    if (!isAsExpected(told)) slips += 1;
    // After the last one there is something left to see only for a client.
    const isOver = told.number === told.of && !(isServed && pauses.byHand);
    if (isOver || (await pauses.after(told, shown))) continue;
    // What is echoed of Ctrl-C stands where the shell would write its prompt.
    if (io.stdout.isTTY === true) io.stdout.write("\n");
    return exitCode.fine;
  }
  if (slips === 0) return exitCode.fine;
  io.stderr.write(`${slips === 1 ? "1 step was" : `${slips} steps were`} not as the story expects.\n`);
  return exitCode.failed;
}

// Looked up for each step: windows are made wider.
function stageOf({ flags, io: { stdout, env } }: Call): Stage {
  return {
    palette: paletteFor(stdout, env, flags),
    isTerminal: stdout.isTTY === true,
    width: Math.max(narrowest, Math.min(widest, stdout.columns ?? withoutTerminal)),
  };
}

// A new key is shown once, to whoever needs it: a client of the presenter's own could not send it otherwise.
function announceNewKey({ performed }: TellingStep, { io }: Call): void {
  const { secret, key, replacement } = performed ?? {};
  const made = replacement ?? key;
  if (secret && made) io.stderr.write(`  ${made.ref}  ${secret}\n\n`);
}

function requireStory({ scenario, name }: LoadedScenario): void {
  if (hasStory(scenario)) return;
  const told = bundledWithStory();
  const hint = told.length === 0 ? "" : ` These bundled ones have one: ${told.join(", ")}.`;
  throw usageError(`Failed to play ${quote(name)}: the scenario has no story.${hint}`);
}
