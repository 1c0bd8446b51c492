import { STATUS_CODES } from "node:http";
import { parseApiKey, prefixOf, sandboxMark } from "../../rules/api-key.js";
import { effectAt } from "../../rules/fault-effects.js";
import { outcomeOf } from "../../rules/outcomes.js";
import { escapeControls, redactKeys } from "../../rules/redact.js";
import { parsedJson } from "../../rules/schema/json.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { scenarioSecret } from "../../sandbox/secrets.js";
import type { Performed, PlayedStep, SentRequest, StepAction, StoryResponse } from "../../sandbox/steps.js";
import { actionSentences, clockSentence, timeInWords } from "../../sandbox/story/step-text.js";
import { type Palette, paintStatus, type Style } from "../terminal.js";
import type { PlacedProblem } from "./verdict.js";

export function openingProse({ name, scenario, clock }: SandboxState, outline: string, style: Style): string {
  const { palette } = style;
  const time = `It is ${timeInWords(new Date(clock.now()).toISOString())} (UTC), and the clock is frozen.`;
  return [
    palette.bold(prose(scenario.name ?? name)),
    palette.dim(time),
    palette.dim(prose(outline)),
    "",
    "",
  ].join("\n");
}

/** Describes a step as a narrator, with what happened in between. `earlier` is the last step before it with a response. */
export function stepProse(
  result: PlayedStep,
  problems: readonly PlacedProblem[],
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
    ...problemLines(problems, style),
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
  const { rejection } = performed;
  if (rejection === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(rejection.message))];
}

function problemLines(problems: readonly PlacedProblem[], { palette, isTerminal }: Style): string[] {
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

/** Returns a response as a client reads it, line by line, and its path; a missing response as a sentence. */
function responseLines(response: StoryResponse, style: Style, earlier?: PlayedStep): string[] {
  const { status, headers, body, pathId, fault } = response;
  const { palette } = style;
  const paths = fault === null || fault === pathId ? [pathId] : [pathId, fault];
  const ends = paths.map((id) => palette.dim(`${id}: ${outcomeOf(id).when}`));
  if (status === 0) return [palette.red(effectAt(pathId)?.silence ?? "There is no response."), ...ends];
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
  if (key === "unknown") return `${prefixOf("test", false)}${sandboxMark}…  (an unknown key)`;
  const { prefix = "", marked = false } = parseApiKey(scenarioSecret(sandbox, key)) ?? {};
  return `${prefix}${marked ? sandboxMark : ""}…  (${key})`;
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
  const text = value === undefined ? body : jsonText(value);
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
function jsonText(value: unknown): string {
  const innermost = /[{[]\n[^{}[\]]*[}\]]/g;
  return JSON.stringify(value, null, 2).replace(innermost, (part) => part.replace(/\s*\n\s*/g, " "));
}
