import { STATUS_CODES } from "node:http";
import { runStory } from "../../api/story/run-story.js";
import { actionSentences, clockSentence, timeInWords } from "../../api/story/step-text.js";
import { stepView } from "../../api/story/step-view.js";
import { type PlacedDifference, placeDifferences } from "../../node/dry-run.js";
import type { OpenedScenario } from "../../node/files/load-scenario.js";
import { startNamed } from "../../node/platform.js";
import { pluralize, shellWord } from "../../report/plain-text.js";
import { parseApiKey, sandboxMark } from "../../rules/api-key.js";
import { effectAt } from "../../rules/fault-effects.js";
import { outcomeOf } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { parsedJson, snakeCase } from "../../rules/schema/json.js";
import { quote } from "../../rules/schema/words.js";
import { escapeControls } from "../../rules/terminal-text.js";
import { isoOf } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretFor } from "../../sandbox/secrets.js";
import {
  isAsExpected,
  type Performed,
  type PlayedStep,
  type SentRequest,
  type StepAction,
  type StoryResponse,
} from "../../sandbox/step-results.js";
import { type CallOf, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { openNamed } from "../open-scenario.js";
import { type Palette, paintStatus, type Style } from "../terminal.js";

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
  ...flag.ofFrozenSandbox,
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
    const opened = await openNamed(words[0], io);
    const { loaded } = opened;
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
      return await playAll(sandbox, opened, pauses, call);
    } finally {
      pauses.close();
    }
  },
});

// Resolves to the exit code once the story or the user ends it.
async function playAll(
  sandbox: SandboxState,
  { loaded, places }: OpenedScenario,
  pauses: Pauses,
  call: PlayCall,
): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  let steps = 0;
  let earlier: PlayedStep | undefined;
  for (const result of runStory(sandbox)) {
    if (!isAsExpected(result)) unexpected += 1;
    const problems = isAsExpected(result) ? [] : placeDifferences(result, await places());
    const prose = stepProse(result, problems, sandbox, io.stdout.style(), earlier);
    steps = result.number;
    if (result.response !== null) earlier = result;
    if (flags.json) io.stdout.write(`${redactKeys(JSON.stringify(snakeCase(stepView(result))))}\n`);
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
    `Unexpected results: ${pluralize(unexpected, "step")}. To see the first in its file: ${io.program} verify ${shellWord(loaded.name)}\n`,
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

function openingProse({ name, scenario, clock }: SandboxState, outline: string, style: Style): string {
  const { palette } = style;
  const time = `It is ${timeInWords(isoOf(clock.now()))} (UTC), and the clock is frozen.`;
  return [
    palette.bold(prose(scenario.name ?? name)),
    palette.dim(time),
    palette.dim(prose(outline)),
    "",
    "",
  ].join("\n");
}

/** Describes a step as a narrator, with what happened in between. `earlier` is the last step before it with a response. */
function stepProse(
  result: PlayedStep,
  problems: readonly PlacedDifference[],
  sandbox: SandboxState,
  style: Style,
  earlier?: PlayedStep,
): string {
  const timeline = result.timeline.flatMap(({ at, step, performed }) =>
    actionLines(`In between, at ${timeInWords(at)}: `, step, performed, style),
  );
  const heading = style.palette.dim(`Step ${result.number} of ${result.of}`);
  const lines = [
    heading,
    ...stepLines(result, sandbox, style, earlier),
    ...timeline,
    ...stepProblemLines(problems, style),
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function stepLines(result: PlayedStep, sandbox: SandboxState, style: Style, earlier?: PlayedStep): string[] {
  const { say, request, response, performed, step, failure, now } = result;
  const { palette, isTerminal } = style;
  if (say !== null) return [prose(say)];
  // The problem describes it.
  if (failure !== null) return [];
  if (request !== null && response !== null) {
    const indented = (line: string) => (line === "" ? "" : `  ${line}`);
    return [...requestLines(request, sandbox, style), "", ...responseLines(response, style, earlier)].map(
      indented,
    );
  }
  if (performed !== null) return actionLines("", step, performed, style);
  return [palette.blue(`${isTerminal ? "⏱ " : ""}${clockSentence(step.advance ?? "", now)}`)];
}

function actionLines(before: string, action: StepAction, performed: Performed, { palette }: Style): string[] {
  const text = prose(before + actionSentences(action, performed));
  const { error } = performed;
  if (error === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(error.message))];
}

function stepProblemLines(problems: readonly PlacedDifference[], { palette, isTerminal }: Style): string[] {
  const mark = isTerminal ? "✗ " : "";
  return problems.flatMap(({ at, message, place }) => {
    const what = at === null ? "This step cannot run" : "Unexpected result";
    // On a separate line: terminals open file positions.
    const where = place === undefined ? [] : [`${place.file ?? ""}:${place.line}:${place.column}`];
    return ["", ...[prose(`${mark}${what}: ${message}`), ...where.map(escapeControls)].map(palette.red)];
  });
}

function prose(text: string): string {
  // A line that starts with two colons is a command in a CI log.
  return redactKeys(escapeControls(text.trim().replace(/\s*\n\s*/g, " ")));
}

/** Returns a request as a client writes it, line by line: everything that is sent, except the key. */
function requestLines(request: SentRequest, sandbox: SandboxState, style: Style): string[] {
  const { palette } = style;
  const { method, path, key, headers, body, times } = request;
  const apiKey = keyHeader(key, sandbox);
  return [
    ...(times === 1 ? [] : [palette.dim(`${times} times, one after the other:`)]),
    palette.bold(escapeControls(`${method} ${path}`)),
    ...headerLines({ ...(apiKey !== undefined && { "x-api-key": apiKey }), ...headers }, palette),
    ...(body === null ? [] : ["", ...bodyLines(body, palette)]),
  ];
}

/** Returns a response as a client reads it, line by line, and its outcome; a missing response as a sentence. */
function responseLines(response: StoryResponse, style: Style, earlier?: PlayedStep): string[] {
  const { status, headers, body, outcome, fault } = response;
  const { palette } = style;
  const outcomes = fault === null || fault === outcome ? [outcome] : [outcome, fault];
  const ends = outcomes.map((id) => palette.dim(`${id}: ${outcomeOf(id).when}`));
  if (status === 0) return [palette.red(effectAt(outcome)?.silence ?? "There is no response."), ...ends];
  const { "content-length": _, date: __, connection: ___, ...shown } = headers;
  return [
    paintStatus(palette, status)(`${status} ${STATUS_CODES[status] ?? ""}`.trim()),
    ...headerLines(shown, palette),
    ...(body === "" ? [] : ["", ...changedLines(response, palette, earlier)]),
    ...ends,
  ];
}

/** Returns the lines of a body; of a body with the lines of the earlier one, only those that have changed. */
function changedLines({ status, body }: StoryResponse, palette: Palette, earlier?: PlayedStep): string[] {
  const lines = bodyLines(body, palette);
  const before = earlier?.response?.status === status ? bodyLines(earlier.response.body, palette) : [];
  const changed = lines.filter((line, index) => line !== before[index]);
  if (before.length !== lines.length || changed.length * 2 > lines.length) return lines;
  const like = `The body of step ${earlier?.number}${changed.length === 0 ? "." : ", except:"}`;
  return [palette.dim(like), ...changed];
}

// Shows only the common part of all keys of its kind.
function keyHeader(key: string, sandbox: SandboxState): string | undefined {
  if (key === "none") return undefined;
  if (key === "malformed") return "…  (malformed: not a key at all)";
  const { prefix = "", marked = false } = parseApiKey(secretFor(sandbox, key)) ?? {};
  return `${prefix}${marked ? sandboxMark : ""}…  (${key === "unknown" ? "an unknown key" : key})`;
}

function headerLines(headers: Readonly<Record<string, string>>, palette: Palette): string[] {
  return Object.entries(headers).map(
    ([name, value]) => `${palette.cyan(escapeControls(name))}: ${escapeControls(value)}`,
  );
}

const jsonToken = /("(?:\\.|[^"\\])*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// Formats and colors JSON, and leaves anything else unchanged; removes everything that would control the terminal.
function bodyLines(body: string, palette: Palette): string[] {
  const value = parsedJson(body);
  const text = value === undefined ? body : compactJson(value);
  const lines = text.split(/\r?\n/).map((line) => escapeControls(line).trimEnd());
  if (value === undefined) return lines;
  return lines.map((line) =>
    line.replace(jsonToken, (token, text?: string, colon?: string) => {
      if (text === undefined) return palette.yellow(token);
      return colon === undefined ? palette.green(text) : `${palette.cyan(text)}:`;
    }),
  );
}

// Writes the innermost objects and lists on one line each, so that a response stays visible.
function compactJson(value: unknown): string {
  const innermost = /[{[]\n[^{}[\]]*[}\]]/g;
  return JSON.stringify(value, null, 2).replace(innermost, (part) => part.replace(/\s*\n\s*/g, " "));
}
