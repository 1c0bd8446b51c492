import { storySender } from "../../api/handle.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { stepJson } from "../../node/step-data.js";
import { pluralize, shellWord } from "../../report/plain-text.js";
import { settled } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { isAsExpected, type StepResult } from "../../sandbox/steps.js";
import { tryNextStep } from "../../sandbox/story/run-step.js";
import { type RunningServer, serveRuntime } from "../../server/serve.js";
import { redactKeys } from "../../spec/redact.js";
import { quote } from "../../spec/schema/words.js";
import {
  type CommandCall,
  declareCommand,
  type FlagValues,
  noVariable,
  option,
  reader,
  scenarioWord,
  toggle,
} from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { changes, color, json, readHost, readPort, worldFlags } from "../flags.js";
import { aborted } from "../io.js";
import { loadNamed, openNamed, startNamed, withChanges } from "../open-scenario.js";
import { banner, dashboardLink, openDashboard } from "../serve/banner.js";
import { createLog } from "../serve/log.js";
import { serveOptions } from "../serve/serve-options.js";
import { type Pauses, pausesFor } from "../story/pauses.js";
import { openingProse, roughly, stepProse } from "../story/step-prose.js";
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
  // No variable opens a port: a variable for `start` would also open one here.
  port: option(
    "-p, --port <number>",
    "also serve this sandbox on this port; 0 uses any free port (default: does not listen)",
    readPort,
    noVariable,
  ),
  host: option(
    "-H, --host <address>",
    "also serve this sandbox on this address (default: does not listen; 127.0.0.1 with --port)",
    readHost,
    noVariable,
  ),
  web: toggle(
    "--web",
    "present it in the dashboard, on --port or a free port; opens the presenter view in the browser, and ends with Ctrl-C",
    { conflicts: ["speed", "step", "json"] },
  ),
  ...worldFlags,
  changes,
  json,
  color,
};
type PlayCall = CommandCall<FlagValues<typeof flags>>;

export const command = declareCommand({
  summary: "play the story of a scenario to an audience",
  description:
    "Plays a story: the narration, each request, its response, and the clock; with pauses to read, step by step, or in the browser. Keys appear as refs. Continues after an unexpected response, and then exits with 1.",
  words: scenarioWord,
  flags,
  examples: {
    "svc-sandbox play rotation": "with time to read",
    "svc-sandbox play rotation --step": "Enter for the next step, q to end",
    "svc-sandbox play rotation --web": "in the browser, for a projector",
    "svc-sandbox play my.yaml --step --port 4747": "your own client uses the same sandbox",
    "svc-sandbox play my.yaml --json": "for machines: a line for each step",
  },
  async run(call) {
    const { words, flags, io } = call;
    const loaded = await withChanges(await loadNamed(words[0], io), flags.changes, io);
    const { story = [] } = loaded.scenario;
    if (story.length === 0) {
      throw usageError(
        `The scenario ${quote(loaded.name)} has no story. Each bundled scenario has one: svc-sandbox play rotation`,
      );
    }
    const stop = io.stopSignal();
    const runtime = startNamed(loaded, { ...flags, frozen: true });
    if (flags.web) return playInBrowser(runtime, call, stop);
    const pauses = await pausesFor(flags, io, stop);
    let server: RunningServer | undefined;
    try {
      if (isServed(call)) server = await serve(runtime, call, await createLog(flags, io));
      if (flags.json !== true) tell(io.stdout, opening(loaded, runtime, pauses, call));
      return await playAll(runtime, loaded.name, pauses, call);
    } finally {
      pauses.close();
      await server?.close();
    }
  },
});

// Resolves to the exit code once the user ends it.
async function playInBrowser(runtime: SandboxState, call: PlayCall, stop: AbortSignal): Promise<number> {
  const { flags, io } = call;
  const log = await createLog(flags, io);
  const server = await serve(runtime, { ...call, flags: { ...flags, port: flags.port ?? 0 } }, log);
  try {
    const world = settled(runtime);
    const outline = `${pluralize(world.story.steps.length, "step")}, in the browser: press Space there for the next one, and Ctrl-C here to end.`;
    const link = { view: "/story", tokenIsNew: server.controlToken !== undefined };
    tell(io.stdout, `${openingProse(world, outline, proseStyle(call))}${dashboardLink(server, link)}\n`);
    openDashboard(server, link, io, log);
    await aborted(stop);
  } finally {
    await server.close();
  }
  return exitCode.fine;
}

// The presenter's client uses the sandbox at the chosen port.
function isServed({ flags }: PlayCall): boolean {
  return flags.port !== undefined || flags.host !== undefined;
}

async function serve(runtime: SandboxState, call: PlayCall, log: Logger): Promise<RunningServer> {
  const { flags, io } = call;
  const server = await serveRuntime(runtime, await serveOptions(flags, io, log));
  const style = styleFor(io.stderr, io.env, flags);
  const tokenIsNew = server.controlToken !== undefined;
  tell(io.stderr, banner(settled(runtime), server, style, { tokenIsNew }));
  return server;
}

// Runs the story once in another sandbox to find its duration.
function opening(loaded: LoadedScenario, runtime: SandboxState, pauses: Pauses, call: PlayCall): string {
  const style = proseStyle(call);
  const world = openNamed(loaded, { ...call.flags, frozen: true });
  let time = 0;
  for (;;) {
    const result = tryNextStep(world, storySender(world));
    if (result === undefined) break;
    if (result.number < result.of) time += pauses.timeFor(result, stepProse(result, [], world, style));
  }
  const length = time === 0 ? "" : `, about ${roughly(time)}`;
  const outline = `${pluralize(world.story.steps.length, "step")}${length}. ${pauses.keys}`;
  return openingProse(settled(runtime), outline, style);
}

// Resolves to the exit code once the story or the user ends it.
async function playAll(runtime: SandboxState, name: string, pauses: Pauses, call: PlayCall): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  let last = 0;
  for (;;) {
    const world = settled(runtime);
    const result = tryNextStep(world, storySender(world));
    if (result === undefined) break;
    noteElsewhere(last, result.number, io);
    last = result.number;
    if (!isAsExpected(result)) unexpected += 1;
    const problems = await placeProblems(result, name, io.cwd);
    const shown =
      flags.json === true
        ? `${redactKeys(JSON.stringify(stepJson(result)))}\n`
        : stepProse(result, problems, world, proseStyle(call));
    if (flags.json === true) writeData(io.stdout, shown);
    else tell(io.stdout, shown);
    if (isServed(call)) announceNewKey(result, call);
    // After the last step, a client may still need the sandbox.
    const isOver = result.number === result.of && !(isServed(call) && flags.step);
    if (isOver || (await pauses.after(result, shown))) continue;
    // The echo of Ctrl-C is where the shell would write its prompt.
    if (io.stdout.isTTY === true) tell(io.stdout, "\n");
    return exitCode.fine;
  }
  noteElsewhere(last, settled(runtime).story.next + 1, io);
  if (unexpected === 0) return exitCode.fine;
  tell(
    io.stderr,
    `Unexpected results: ${pluralize(unexpected, "step")}. To see the first in its file: svc-sandbox verify ${shellWord(name)}\n`,
  );
  return exitCode.failed;
}

// The control plane can also run steps, which were not shown here.
function noteElsewhere(last: number, number: number, { stderr }: PlayCall["io"]): void {
  if (number <= last) tell(stderr, "The story was restarted elsewhere.\n\n");
  const missed = number - last - 1;
  if (missed > 0) tell(stderr, `Run elsewhere: ${pluralize(missed, "step")}, up to step ${number - 1}.\n\n`);
}

// Longer lines of JSON are hard to read.
function proseStyle({ flags, io: { stdout, env } }: PlayCall): Style {
  const style = styleFor(stdout, env, flags);
  return { ...style, width: Math.max(20, Math.min(100, style.width)) };
}

// Shows a new key, which the presenter's client could not send otherwise.
function announceNewKey({ performed }: StepResult, { io }: PlayCall): void {
  const { secret, key, replacement } = performed ?? {};
  const made = replacement ?? key;
  if (secret && made) tell(io.stderr, `  ${made.ref}  ${secret}\n\n`);
}
