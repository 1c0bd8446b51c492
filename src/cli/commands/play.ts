import { STATUS_CODES } from "node:http";
import { runStory } from "../../api/story/run-story.js";
import { actionSentences, clockSentence, timeInWords } from "../../api/story/step-text.js";
import { stepView } from "../../api/story/step-view.js";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import { startInNode } from "../../node/platform.js";
import { pluralize, shellWord } from "../../report/plain-text.js";
import { parseApiKey, sandboxMark } from "../../rules/key-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { redactPlainKeys } from "../../rules/redact.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretToSend } from "../../sandbox/secrets.js";
import {
  type ActionResult,
  isAsExpected,
  type PlayedStep,
  type SentRequest,
  type StepAction,
  type StoryResponse,
} from "../../sandbox/step-results.js";
import { tryParseJson } from "../../schema/json-text.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import { quote } from "../../schema/words.js";
import { type CallOf, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { type Palette, paintStatus, type Style } from "../output/terminal.js";
import { openNamed } from "../scenario/open-scenario.js";
import { type PlacedDifference, placeDifferences } from "../story/placed-differences.js";

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
  ...flag.frozenSandboxFlags,
  json: flag.json,
};
type PlayCall = CallOf<typeof flags>;

export const playCommand = declareCommand({
  summary: "play the story of a scenario to an audience",
  description:
    "Plays a story: the narration, each request, its response, and the clock; with pauses to read, or step by step. Keys appear as refs. Continues after an unexpected response, and then exits with 1.",
  args: flag.scenarioArgument,
  flags,
  modes: [
    {
      name: "play --json",
      when: ({ flags }) => flags.json,
      words: ["[scenario]"],
      flags: ["json", ...flag.frozenSandboxFlagNames],
    },
    {
      name: "play --step",
      when: ({ flags }) => flags.step,
      words: ["[scenario]"],
      flags: ["step", ...flag.frozenSandboxFlagNames],
    },
    { name: "play", words: ["[scenario]"], flags: ["speed", ...flag.frozenSandboxFlagNames] },
  ],
  examples: {
    "svc-sandbox play rotation": "with time to read",
    "svc-sandbox play rotation --step": "Enter for the next step, q to end",
    "svc-sandbox play my.yaml --json": "for machines: a line for each step",
  },
  async run(call) {
    const { args, flags, io } = call;
    const opened = await openNamed(args[0], io);
    const { name, scenario } = opened.loaded;
    const { story = [] } = scenario;
    if (story.length === 0) {
      throw usageError(
        `The scenario ${quote(name)} has no story. Each bundled scenario has one: ${io.program} play rotation`,
      );
    }

    // Only the story moves the clock.
    const stop = io.stopSignal();
    const sandbox = startInNode(opened.loaded, { ...flags, frozen: true });
    const pauses = await createPauses(call, stop);
    try {
      const keys = flags.step ? stepKeys : "";
      const outline = `${pluralize(story.length, "step")}.${keys}`;
      if (!flags.json) io.stdout.say(openingProse(sandbox, outline, io.stdout.style()));
      return await playAll(sandbox, opened, pauses, call);
    } finally {
      pauses.close();
    }
  },
});

/** Plays the story until its end or the user's; resolves to the exit code, which does not depend on who ended it. */
async function playAll(
  sandbox: SandboxState,
  opened: OpenedScenario,
  pauses: Pauses,
  call: PlayCall,
): Promise<number> {
  const { flags, io } = call;
  let unexpected = 0;
  let steps = 0;
  let isEnded = false;
  const bodies = new ShownBodies();
  for (const result of runStory(sandbox)) {
    steps = result.number;
    let problems: readonly PlacedDifference[] = [];
    if (!isAsExpected(result)) {
      // The story continues: an audience is waiting.
      unexpected += 1;
      problems = placeDifferences(result, await opened.places());
    }

    const style = io.stdout.style();
    const text = stepProse(result, problems, sandbox, style, bodies);
    if (flags.json) {
      const stepJson = JSON.stringify(membersToSnakeCase(stepView(result)));
      io.stdout.write(`${redactPlainKeys(stepJson)}\n`);
    } else io.stdout.say(text);

    const isLast = result.number === result.of;
    if (isLast || (await pauses.after(result, text))) continue;
    isEnded = true;
    break;
  }

  if (isEnded) {
    // The echo of Ctrl-C is where the shell would write its prompt.
    if (io.stdout.isTTY === true) io.stdout.write("\n");
  } else if (!flags.json) {
    const summary = unexpected === 0 ? "all as expected" : `${unexpected} not as expected`;
    io.stdout.say(`The end: ${pluralize(steps, "step")}, ${summary}.\n`);
  }
  if (unexpected === 0) return exitCode.fine;
  const words = ["verify", opened.loaded.name, ...startWords(flags)].map(shellWord);
  const verify = `${io.program} ${words.join(" ")}`;
  io.stderr.say(
    `Unexpected results: ${pluralize(unexpected, "step")}. To see the first in its file: ${verify}\n`,
  );
  return exitCode.failed;
}

/** The flags that start the same sandbox again. */
function startWords({ seed, now, profile }: PlayCall["flags"]): string[] {
  const words: string[] = [];
  if (seed !== undefined) words.push("--seed", String(seed));
  if (now !== undefined) words.push("--now", isoTime(now));
  if (profile !== undefined) words.push("--profile", profile);
  return words;
}

/** The time between two steps. */
interface Pauses {
  /** Waits after a step with this text; resolves to whether to continue. */
  readonly after: (result: PlayedStep, shown: string) => Promise<boolean>;
  readonly close: () => void;
}

/** The pauses that the flags set: until a key is pressed, with time to read, or none. */
async function createPauses({ flags, io }: PlayCall, stop: AbortSignal): Promise<Pauses> {
  if (flags.step) return createKeyPauses(io, stop);

  // A program that reads the output waits for nothing.
  const standardSpeed = io.stdout.isTTY ? 1 : Number.POSITIVE_INFINITY;
  const speed = flags.json ? Number.POSITIVE_INFINITY : (flags.speed ?? standardSpeed);
  return {
    async after({ kind }, shown) {
      // People read narration word by word, and only skim requests.
      const perCharacter = kind === "request" ? 18 : 50;
      const time = shown.replace(/\s+/g, "").length * perCharacter;
      const pause = Math.min(12_000, Math.max(1200, time)) / speed;
      if (pause > 0) await io.wait(pause, stop);
      return !stop.aborted;
    },
    close() {},
  };
}

const stepKeys = " Enter or Space: the next step. q: the end.";
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
    async after() {
      for (;;) {
        const key = await Promise.race([stopped, presses.next()]);
        if (keysForTheEnd.includes(key)) return false;
        if (keysForNextStep.includes(key)) return true;
      }
    },
    close: presses.close,
  };
}

function openingProse(sandbox: SandboxState, outline: string, { palette }: Style): string {
  const { name, scenario, clock } = sandbox;
  const time = `It is ${timeInWords(isoTime(clock.now()))} (UTC), and the clock is frozen.`;
  const lines = [palette.bold(prose(scenario.name ?? name)), palette.dim(time), palette.dim(prose(outline))];
  return `${lines.join("\n")}\n\n`;
}

/** Describes a step as a narrator, with what happened in between. */
function stepProse(
  result: PlayedStep,
  problems: readonly PlacedDifference[],
  sandbox: SandboxState,
  style: Style,
  bodies: ShownBodies,
): string {
  const lines = [style.palette.dim(`Step ${result.number} of ${result.of}`)];
  lines.push(...stepLines(result, sandbox, style, bodies));
  for (const { at, step, performed } of result.timeline) {
    lines.push(...actionLines(`In between, at ${timeInWords(at)}: `, step, performed, style));
  }
  for (const problem of problems) lines.push("", ...differenceLines(problem, style));
  return `${lines.join("\n")}\n\n`;
}

/** The lines of a step without what happened around it. */
function stepLines(result: PlayedStep, sandbox: SandboxState, style: Style, bodies: ShownBodies): string[] {
  const { say, request, response, performed, step } = result;
  const { palette, isTerminal } = style;
  if (say !== null) return [prose(say)];
  // A step that failed is described by its problem.
  if (result.failure !== null) return [];
  if (request !== null && response !== null) {
    const lines = [
      ...requestLines(request, sandbox, style),
      "",
      ...responseLines(response, result.number, style, bodies),
    ];
    return lines.map((line) => (line === "" ? "" : `  ${line}`));
  }
  if (performed !== null) return actionLines("", step, performed, style);
  const sign = isTerminal ? "⏱ " : "";
  return [palette.blue(sign + clockSentence(step.advance ?? "", result.now))];
}

/** Describes an action, and why it was rejected if it was. */
function actionLines(
  before: string,
  action: StepAction,
  performed: ActionResult,
  { palette }: Style,
): string[] {
  const text = prose(before + actionSentences(action, performed));
  const { error } = performed;
  if (error === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(error.message))];
}

/** Describes what was not as expected, and where the scenario expects it. */
function differenceLines({ at, message, place }: PlacedDifference, { palette, isTerminal }: Style): string[] {
  const sign = isTerminal ? "✗ " : "";
  const what = at === null ? "This step cannot run" : "Unexpected result";
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
  // A line that starts with two colons is a command in a CI log.
  return redactPlainKeys(oneSafeLine(text.trim().replace(/\s*\n\s*/g, " ")));
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

  if (body !== null) lines.push("", ...bodyLines(body, palette));
  return lines;
}

/** Headers that no audience needs. */
const headersOfTransport = ["content-length", "date", "connection"];

/** What a person reads in place of a response that never comes. */
function noResponseText(outcome: string): string {
  if (outcome === "fault.reset") return "The connection is reset without a response.";
  if (outcome === "fault.hang") return "There is no response. A client without a timeout would wait forever.";
  return "There is no response.";
}

/** Returns a response as a client reads it, line by line, and its outcome; a missing response as a sentence. */
function responseLines(
  response: StoryResponse,
  stepNumber: number,
  { palette }: Style,
  bodies: ShownBodies,
): string[] {
  const { status, outcome, fault } = response;
  const lines: string[] = [];
  if (status === 0) {
    lines.push(palette.red(noResponseText(outcome)));
  } else {
    const statusLine = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    lines.push(paintStatus(palette, status)(statusLine));
    for (const [name, value] of Object.entries(response.headers)) {
      if (!headersOfTransport.includes(name)) lines.push(headerLine(name, redactPlainKeys(value), palette));
    }
    if (response.body !== "") {
      lines.push("", ...bodies.show(response, stepNumber, palette));
    }
  }

  lines.push(palette.dim(`${outcome}: ${outcomeRow(outcome).when}`));
  if (fault !== null && fault !== outcome) lines.push(palette.dim(`${fault}: ${outcomeRow(fault).when}`));
  return lines;
}

/** The bodies that an audience has seen. */
class ShownBodies {
  /** The response whose body was the last one that was shown whole, and the number of its step. */
  #whole: { readonly response: StoryResponse; readonly stepNumber: number } | undefined;

  /** The lines of a body. Of one that is nearly equal to the last whole one, only the changes are shown. */
  show(response: StoryResponse, stepNumber: number, palette: Palette): readonly string[] {
    const lines = bodyLines(response.body, palette);
    const whole = this.#whole;
    if (whole?.response.status === response.status) {
      const before = bodyLines(whole.response.body, palette);
      const changed = lines.filter((line, index) => line !== before[index]);
      // What has changed says something only if most has not.
      const isNearlyEqual = before.length === lines.length && changed.length * 2 <= lines.length;
      if (isNearlyEqual) {
        const end = changed.length === 0 ? "." : ", except:";
        return [palette.dim(`The body of step ${whole.stepNumber}${end}`), ...changed];
      }
    }

    this.#whole = { response, stepNumber };
    return lines;
  }
}

/** The header with a key, in place of which it has the start that all keys of its kind have; `undefined` without a key. */
function keyHeader(ref: string, sandbox: SandboxState): string | undefined {
  if (ref === "none") return undefined;
  if (ref === "malformed") return "…  (malformed: not a key at all)";
  const { prefix = "", marked = false } = parseApiKey(secretToSend(sandbox, ref)) ?? {};
  const mark = marked ? sandboxMark : "";
  const who = ref === "unknown" ? "an unknown key" : ref;
  return `${prefix}${mark}…  (${who})`;
}

/** The value is shown as it is: the story's are redacted already, and that of the key is our own. */
function headerLine(name: string, value: string, palette: Palette): string {
  const shownName = oneSafeLine(redactPlainKeys(name));
  return `${palette.cyan(shownName)}: ${oneSafeLine(value)}`;
}

/** Formats and colors JSON, and leaves any other text as it is, but for keys and what would control the terminal. */
function bodyLines(body: string, palette: Palette): string[] {
  const value = tryParseJson(body);
  const text = redactPlainKeys(value === undefined ? body : compactJson(value));
  const lines = text.split(/\r?\n/).map((line) => oneSafeLine(line).trimEnd());
  if (value === undefined) return lines;
  return lines.map((line) => paintJson(line, palette));
}

const jsonToken = /("(?:\\.|[^"\\])*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function paintJson(line: string, palette: Palette): string {
  return line.replace(jsonToken, (token, text?: string, colon?: string) => {
    if (text === undefined) return palette.yellow(token);
    return colon === undefined ? palette.green(text) : `${palette.cyan(text)}:`;
  });
}

/** Writes the innermost objects and lists on one line each, so that a response stays visible. */
function compactJson(value: unknown): string {
  const innermost = /[{[]\n[^{}[\]]*[}\]]/g;
  return JSON.stringify(value, null, 2).replace(innermost, (part) => part.replace(/\s*\n\s*/g, " "));
}
