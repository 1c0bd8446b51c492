import { STATUS_CODES } from "node:http";
import { runStory } from "../../api/story/run-story.js";
import { stepText, stepView, summarizeAction, timeInWords } from "../../api/story/summarize.js";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import { startInNode } from "../../node/platform.js";
import { pluralize } from "../../report/plain-text.js";
import { parseApiKey } from "../../rules/keys/key-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretToSend } from "../../sandbox/secrets.js";
import {
  type ActionResult,
  isAsExpected,
  type PlayedStep,
  type SentRequest,
  type StoryResponse,
} from "../../sandbox/steps.js";
import { tryParseJson } from "../../schema/json-text.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import { quote } from "../../schema/words.js";
import { type CommandCall, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { openScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";
import { problemsOfStep, type StepProblem } from "../story.js";
import { type Palette, paintStatus, type Style } from "../terminal.js";

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
      if (!flags.json) {
        const { palette } = io.stdout.style();
        const time = `It is ${timeInWords(isoTime(sandbox.clock.now()))} (UTC), and the clock is frozen.`;
        const outline = `${pluralize(story.length, "step")}.${flags.step ? stepKeysHelp : ""}`;
        const title = palette.bold(prose(scenario.name ?? name));
        io.stdout.say(`${title}\n${palette.dim(time)}\n${palette.dim(prose(outline))}\n\n`);
      }
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
    let problems: readonly StepProblem[] = [];
    if (!isAsExpected(result)) {
      // The story continues: an audience is waiting.
      unexpected += 1;
      problems = problemsOfStep(result, await opened.places());
    }

    const style = io.stdout.style();
    const text = stepProse(result, problems, sandbox, style);
    if (flags.json) {
      io.stdout.write(`${JSON.stringify(membersToSnakeCase(stepView(result)))}\n`);
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
  io.stderr.say(`Unexpected results: ${pluralize(unexpected, "step")}.\n`);
  return exitCode.failed;
}

// A step for an audience: the narration, the request and its response line by line, what happened in between, and its problems.

/** Describes a step as a narrator, with what happened in between. */
function stepProse(
  result: PlayedStep,
  problems: readonly StepProblem[],
  sandbox: SandboxState,
  style: Style,
): string {
  const { palette, isTerminal } = style;
  const lines = [palette.dim(`Step ${result.number} of ${result.of}`)];
  const text = stepText(result);
  if (text !== null && result.performed === null) lines.push(palette.blue((isTerminal ? "⏱ " : "") + text));
  lines.push(...stepLines(result, sandbox, style));
  for (const { at, step, performed } of result.timeline) {
    const action = summarizeAction(step, performed);
    lines.push(...actionLines(`In between, at ${timeInWords(at)}: ${action}`, performed, style));
  }
  for (const problem of problems) lines.push("", ...differenceLines(problem, style));
  return `${lines.join("\n")}\n\n`;
}

/** The lines of a step without the time that passes, and what happened around it. */
function stepLines(result: PlayedStep, sandbox: SandboxState, style: Style): string[] {
  const { say, request, response, performed } = result;
  if (say !== null) return [prose(say)];
  // A step that failed is described by its problem.
  if (result.failure !== null) return [];
  if (request !== null && response !== null) {
    const lines = [...requestLines(request, sandbox, style), "", ...responseLines(response, style)];
    return lines.map((line) => (line === "" ? "" : `  ${line}`));
  }
  return performed === null ? [] : actionLines(stepText(result) ?? "", performed, style);
}

/** Describes an action, and why it was rejected if it was. */
function actionLines(summary: string, { error }: ActionResult, { palette }: Style): string[] {
  const text = prose(summary);
  if (error === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(error.message))];
}

/** Describes what was not as expected, and where the scenario expects it. */
function differenceLines(
  { difference, message, place }: StepProblem,
  { palette, isTerminal }: Style,
): string[] {
  const sign = isTerminal ? "✗ " : "";
  const what = difference === undefined ? "This step cannot run" : "Unexpected result";
  const lines = [palette.red(prose(`${sign}${what}: ${message}`))];
  if (place !== undefined) {
    // On a separate line: terminals open file positions.
    const position = `${place.file ?? ""}:${place.line}:${place.column}`;
    lines.push(palette.red(oneSafeLine(position)));
  }
  return lines;
}

/** A text of the scenario as one line, without keys. */
function prose(text: string): string {
  // Joined to one line, the text cannot start a line with two colons, which would be a command in a CI log.
  return oneSafeLine(text.trim().replace(/\s*\n\s*/g, " "));
}

/** Returns a request as a client writes it, line by line: everything that is sent, except the key. */
function requestLines(request: SentRequest, sandbox: SandboxState, { palette }: Style): string[] {
  const { times, body } = request;
  const lines: string[] = [];
  if (times !== 1) lines.push(palette.dim(`${times} times, one after the other:`));
  lines.push(palette.bold(oneSafeLine(`${request.method} ${request.path}`)));

  // The story's own headers come last, and may replace the key.
  const headers: Record<string, string> = {};
  const apiKey = keyHeader(request.key, sandbox);
  if (apiKey !== undefined) headers["x-api-key"] = apiKey;
  Object.assign(headers, request.headers);
  for (const [name, value] of Object.entries(headers)) lines.push(headerLine(name, value, palette));

  if (body !== null) lines.push("", ...bodyLines(body));
  return lines;
}

/** Headers that no audience needs. */
const headersOfTransport = ["content-length", "date", "connection"];

/** Returns the cause of a response, and the response as a client reads it, line by line; a missing one as a sentence. */
function responseLines(response: StoryResponse, { palette }: Style): string[] {
  const { status, outcome, fault } = response;
  const lines = [palette.dim(`${outcome}: ${outcomeRow(outcome).when}`)];
  if (fault !== null && fault !== outcome) lines.push(palette.dim(`${fault}: ${outcomeRow(fault).when}`));
  if (status === 0) {
    let what = "There is no response.";
    if (outcome === "fault.reset") what = "The connection is reset without a response.";
    if (outcome === "fault.hang") what += " A client without a timeout would wait forever.";
    lines.push(palette.red(what));
  } else {
    const statusLine = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    lines.push(paintStatus(palette, status)(statusLine));
    for (const [name, value] of Object.entries(response.headers)) {
      if (!headersOfTransport.includes(name)) lines.push(headerLine(name, value, palette));
    }
    if (response.body !== "") lines.push("", ...bodyLines(response.body));
  }
  return lines;
}

/** The header with a key, of which only the prefix is shown; `undefined` without a key. */
function keyHeader(ref: string, sandbox: SandboxState): string | undefined {
  if (ref === "none") return undefined;
  if (ref === "malformed") return "…  (malformed: not a key at all)";
  const { prefix = "" } = parseApiKey(secretToSend(sandbox, ref)) ?? {};
  return `${prefix}…  (${ref === "unknown" ? "an unknown key" : ref})`;
}

function headerLine(name: string, value: string, palette: Palette): string {
  return `${palette.cyan(oneSafeLine(name))}: ${oneSafeLine(value)}`;
}

/** The longest line of formatted JSON: a terminal of 80 columns does not break it. */
const longestJsonLine = 76;

/** The lines of a body; JSON is formatted. */
function bodyLines(body: string): string[] {
  const value = tryParseJson(body);
  let text = body;
  if (value !== undefined) {
    // The innermost objects and lists are on one line each if they fit, so that a response stays visible.
    const innermost = /^.*[{[]\n[^{}[\]]*[}\]]/gm;
    text = JSON.stringify(value, null, 2).replace(innermost, (part) => {
      const line = part.replace(/(?<=\S)\s*\n\s*/g, " ");
      return line.length <= longestJsonLine ? line : part;
    });
  }
  return text.split(/\r?\n/).map((line) => oneSafeLine(line).trimEnd());
}

// The pauses between the steps.

/** The time between two steps. */
interface Pauses {
  /** Waits after a step with this text; resolves to what follows: the next step, or the end that the user asked for. */
  readonly waitAfter: (result: PlayedStep, shown: string) => Promise<"next" | "end">;
  readonly close: () => void;
}

/** The pauses that the flags set: until a key is pressed, with time to read, or none. */
async function createPauses({ flags, io }: PlayCall, stop: AbortSignal): Promise<Pauses> {
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
      // Also a pause of 0 lets a signal end the story.
      await io.wait(pause, stop);
      return stop.aborted ? "end" : "next";
    },
    close() {},
  };
}

/** What the keyboard does with --step, for the outline of a story. */
const stepKeysHelp = " Enter or Space: the next step. q: the end.";

// Presenters' clickers press Page Down.
const keysForNextStep = ["return", "enter", "space", "right", "down", "pagedown"];

const keysForTheEnd = ["q", "escape", "ctrl-c", "ctrl-d"];

/** Pauses that end with a key. */
async function createKeyPauses(io: Io, stop: AbortSignal): Promise<Pauses> {
  const presses = await io.keyPresses();
  if (presses === undefined) {
    throw usageError(
      "--step requires a terminal, and the input is not one. Remove it; --speed 1 leaves time to read.",
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
