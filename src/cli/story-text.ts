import { STATUS_CODES } from "node:http";
import { narrateAction, narrateTime, timeInWords } from "../api/story/narrate.js";
import { parseApiKey, sandboxMark } from "../rules/keys/key-text.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { outcomeRow } from "../rules/outcomes.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { isoTime } from "../rules/time.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { secretToSend } from "../sandbox/secrets.js";
import {
  type ActionResult,
  type FieldDifference,
  fieldDifferences,
  type PlayedStep,
  type SentRequest,
  type StepAction,
  type StoryResponse,
} from "../sandbox/steps.js";
import type { Place, ScenarioPlaces } from "../scenario/problems.js";
import { tryParseJson } from "../schema/json-text.js";
import { type Palette, paintStatus, type Style } from "./terminal.js";

/** What an audience reads before the first step. */
export function openingProse(sandbox: SandboxState, outline: string, { palette }: Style): string {
  const { name, scenario, clock } = sandbox;
  const time = `It is ${timeInWords(isoTime(clock.now()))} (UTC), and the clock is frozen.`;
  const lines = [palette.bold(prose(scenario.name ?? name)), palette.dim(time), palette.dim(prose(outline))];
  return `${lines.join("\n")}\n\n`;
}

/** Describes a step as a narrator, with what happened in between. */
export function stepProse(
  result: PlayedStep,
  problems: readonly PlacedDifference[],
  sandbox: SandboxState,
  style: Style,
): string {
  const { palette, isTerminal } = style;
  const lines = [palette.dim(`Step ${result.number} of ${result.of}`)];
  const time = narrateTime(result);
  if (time !== null) lines.push(palette.blue((isTerminal ? "⏱ " : "") + time));
  lines.push(...stepLines(result, sandbox, style));
  for (const { at, step, performed } of result.timeline) {
    lines.push(...actionLines(`In between, at ${timeInWords(at)}: `, step, performed, style));
  }
  for (const problem of problems) lines.push("", ...differenceLines(problem, style));
  return `${lines.join("\n")}\n\n`;
}

/** The lines of a step without the time that passes, and what happened around it. */
function stepLines(result: PlayedStep, sandbox: SandboxState, style: Style): string[] {
  const { say, request, response, performed, step } = result;
  if (say !== null) return [prose(say)];
  // A step that failed is described by its problem.
  if (result.failure !== null) return [];
  if (request !== null && response !== null) {
    const lines = [...requestLines(request, sandbox, style), "", ...responseLines(response, style)];
    return lines.map((line) => (line === "" ? "" : `  ${line}`));
  }
  return performed === null ? [] : actionLines("", step, performed, style);
}

/** Describes an action, and why it was rejected if it was. */
function actionLines(
  before: string,
  action: StepAction,
  performed: ActionResult,
  { palette }: Style,
): string[] {
  const text = prose(before + narrateAction(action, performed));
  const { error } = performed;
  if (error === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(error.message))];
}

/** Describes what was not as expected, and where the scenario expects it. */
function differenceLines(
  { kind, message, place }: PlacedDifference,
  { palette, isTerminal }: Style,
): string[] {
  const sign = isTerminal ? "✗ " : "";
  const what = kind === "cannot_run" ? "This step cannot run" : "Unexpected result";
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

/** Returns a response as a client reads it, line by line, and its outcome; a missing response as a sentence. */
function responseLines(response: StoryResponse, { palette }: Style): string[] {
  const { status, outcome, fault } = response;
  const lines: string[] = [];
  if (status === 0) {
    let what = "There is no response.";
    if (outcome === "fault.reset") what = "The connection is reset without a response.";
    if (outcome === "fault.hang") what += " A client without a timeout would wait forever.";
    lines.push(palette.red(what));
  } else {
    const statusLine = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    lines.push(paintStatus(palette, status)(statusLine));
    for (const [name, value] of Object.entries(response.headers)) {
      if (!headersOfTransport.includes(name)) lines.push(headerLine(name, redactPlainKeys(value), palette));
    }
    if (response.body !== "") lines.push("", ...bodyLines(response.body, palette));
  }

  lines.push(palette.dim(`${outcome}: ${outcomeRow(outcome).when}`));
  if (fault !== null && fault !== outcome) lines.push(palette.dim(`${fault}: ${outcomeRow(fault).when}`));
  return lines;
}

/** The header with a key, in place of which it has the start that all keys of its kind have; `undefined` without a key. */
function keyHeader(ref: string, sandbox: SandboxState): string | undefined {
  if (ref === "none") return undefined;
  if (ref === "malformed") return "…  (malformed: not a key at all)";
  const { prefix = "", hasMark = false } = parseApiKey(secretToSend(sandbox, ref)) ?? {};
  const mark = hasMark ? sandboxMark : "";
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
  let text = body;
  if (value !== undefined) {
    // The innermost objects and lists are on one line each, so that a response stays visible.
    const innermost = /[{[]\n[^{}[\]]*[}\]]/g;
    text = JSON.stringify(value, null, 2).replace(innermost, (part) => part.replace(/\s*\n\s*/g, " "));
  }
  const lines = redactPlainKeys(text)
    .split(/\r?\n/)
    .map((line) => oneSafeLine(line).trimEnd());
  if (value === undefined) return lines;

  return lines.map((line) => {
    return line.replace(jsonToken, (token, name?: string, colon?: string) => {
      if (name === undefined) return palette.yellow(token);
      return colon === undefined ? palette.green(name) : `${palette.cyan(name)}:`;
    });
  });
}

/** A text, which is a name before a colon; or a word or a number. */
const jsonToken = /("(?:\\.|[^"\\])*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export interface PlacedDifference extends FieldDifference {
  /** Whether the step could not run, or ran and had another result than its scenario expects. */
  readonly kind: "cannot_run" | "unexpected_result";
  /** `undefined` if no text has the field. */
  readonly place: Place | undefined;
}

/** Adds to the differences of a step where they are in its file. */
export function placeDifferences(result: PlayedStep, { placeOf }: ScenarioPlaces): PlacedDifference[] {
  return fieldDifferences(result).map((difference) => ({
    ...difference,
    kind: difference.at === null ? "cannot_run" : "unexpected_result",
    place: placeOf(difference.field),
  }));
}
