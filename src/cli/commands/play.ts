import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { createRuntime, type Runtime } from "../../sandbox/runtime.js";
import { quote } from "../../scenario/problems/words.js";
import type { Call, Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { forShell } from "../for-shell.js";
import { givenIn, loadNamed, openNamed } from "../open-scenario.js";
import { paletteFor } from "../palette.js";
import { type Pauses, pausesFor } from "../pauses.js";
import { stepJsonLine } from "../play-json.js";
import { openingText, type Stage, stepText } from "../play-text.js";
import { serveStory } from "../serve-story.js";
import { problemsOf } from "../step-places.js";
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
  const runtime = createRuntime(() => openNamed(loaded, wanted), { given: givenIn(wanted) });
  const server = await serveStory(runtime, call);
  try {
    const pauses = await pausesFor(call, stop);
    try {
      return await tellAll({ runtime, loaded, pauses, isServed: server !== undefined }, call);
    } finally {
      pauses.close();
    }
  } finally {
    await server?.close();
  }
};

interface Telling {
  readonly runtime: Runtime;
  readonly loaded: LoadedScenario;
  readonly pauses: Pauses;
  /** Whether others can meet the same world. */
  readonly isServed: boolean;
}

async function tellAll({ runtime, loaded, pauses, isServed }: Telling, call: Call): Promise<number> {
  const { flags, io } = call;
  if (flags.json !== true) io.stdout.write(openingText(runtime.world(), stageOf(call)));
  let slips = 0;
  let last = 0;
  for (let told = await tellStep(runtime); told !== undefined; told = await tellStep(runtime)) {
    noteElsewhere(last, told.number, io);
    last = told.number;
    const slipped = !isAsExpected(told);
    if (slipped) slips += 1;
    const problems = slipped ? await problemsOf(told, loaded, io.cwd) : [];
    const shown =
      flags.json === true ? stepJsonLine(told) : stepText(told, problems, runtime.world(), stageOf(call));
    io.stdout.write(shown);
    if (isServed) announceNewKey(told, call);
    // After the last one there is something left to see only for a client.
    const isOver = told.number === told.of && !(isServed && pauses.byHand);
    if (isOver || (await pauses.after(told, shown))) continue;
    // What is echoed of Ctrl-C stands where the shell would write its prompt.
    if (io.stdout.isTTY === true) io.stdout.write("\n");
    return exitCode.fine;
  }
  noteElsewhere(last, runtime.world().story.next + 1, io);
  if (slips === 0) return exitCode.fine;
  io.stderr.write(
    `${slips === 1 ? "1 step was" : `${slips} steps were`} not as the story expects. To see the first one in its file: svc-sandbox verify ${forShell(loaded.name)}\n`,
  );
  return exitCode.failed;
}

// Whoever has the control plane can tell a step, too, and nobody has seen that one here.
function noteElsewhere(last: number, number: number, { stderr }: Call["io"]): void {
  if (number <= last) stderr.write("The story was begun again elsewhere.\n\n");
  const missed = number - last - 1;
  if (missed === 1) stderr.write(`Step ${last + 1} was told elsewhere.\n\n`);
  if (missed > 1) stderr.write(`The steps ${last + 1} to ${number - 1} were told elsewhere.\n\n`);
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
