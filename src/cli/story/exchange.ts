import { STATUS_CODES } from "node:http";
import { parseApiKey, prefixOf, sandboxMark } from "../../domain/api-key.js";
import { outcomeOf } from "../../domain/outcomes.js";
import { escapeControls } from "../../report/plain-text.js";
import { scenarioSecret } from "../../sandbox/secrets.js";
import type { SentRequest, StoryAnswer } from "../../sandbox/story/story.js";
import type { World } from "../../sandbox/world.js";
import { type Palette, paintStatus } from "../terminal.js";

/** A request as a client writes it, line by line: what goes over the wire, but for the key. */
export function requestLines(request: SentRequest, world: World, palette: Palette): string[] {
  const { method, path, key, headers, body, times } = request;
  const apiKey = keyHeader(key, world);
  return [
    ...(times === 1 ? [] : [palette.dim(`${times} times, one after the other:`)]),
    palette.bold(escapeControls(`${method} ${path}`)),
    ...(apiKey === undefined ? [] : [headerLine("x-api-key", apiKey, palette)]),
    ...Object.entries(headers).map(([name, value]) => headerLine(name, value, palette)),
    ...(body === null ? [] : ["", ...bodyLines(body, palette)]),
  ];
}

/** An answer as a client reads it, line by line, and the path it is on; a missing answer in words. */
export function answerLines(
  { status, headers, body, pathId, fault }: StoryAnswer,
  palette: Palette,
): string[] {
  const { when } = outcomeOf(pathId);
  if (status === 0)
    return [palette.red(silence[pathId] ?? "No answer comes."), palette.dim(`${pathId}: ${when}`)];
  const paint = paintStatus(palette, status);
  const shown = Object.entries(headers).filter(([name]) => !uninteresting.has(name));
  return [
    paint(`${status} ${STATUS_CODES[status] ?? ""}`.trim()),
    ...shown.map(([name, value]) => headerLine(name, value, palette)),
    ...(body === "" ? [] : ["", ...bodyLines(body, palette)]),
    "",
    palette.dim(`${pathId}: ${when}`),
    ...(fault === null || fault === pathId ? [] : [palette.dim(`${fault}: ${outcomeOf(fault).when}`)]),
  ];
}

const silence: Readonly<Record<string, string>> = {
  "fault.reset": "The connection is reset: no answer comes.",
  "fault.hang": "Nothing comes back. A client without a timeout would wait for ever.",
};

const uninteresting: ReadonlySet<string> = new Set(["content-length", "date", "connection"]);

function keyHeader(key: string, world: World): string | undefined {
  if (key === "none") return undefined;
  if (key === "malformed") return "…  (malformed: not a key at all)";
  if (key === "unknown") return `${prefixOf("test", false)}${sandboxMark}…  (an unknown key)`;
  return `${startOfKey(key, world)}…  (${key})`;
}

// Only the part that all keys of its kind have in common.
function startOfKey(ref: string, world: World): string {
  const parsed = parseApiKey(scenarioSecret(world, ref));
  return parsed === undefined ? "" : `${parsed.prefix}${parsed.marked ? sandboxMark : ""}`;
}

function headerLine(name: string, value: string, palette: Palette): string {
  return `${palette.cyan(escapeControls(name))}: ${escapeControls(value)}`;
}

const jsonToken = /("(?:\\.|[^"\\])*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// JSON indented and coloured, anything else as it is; without what a terminal would obey.
function bodyLines(body: string, palette: Palette): string[] {
  const json = indentedJson(body);
  const lines = (json ?? body).split(/\r?\n/).map((line) => escapeControls(line).trimEnd());
  if (json === undefined) return lines;
  return lines.map((line) =>
    line.replace(jsonToken, (token, text?: string, colon?: string) => {
      if (text === undefined) return palette.yellow(token);
      return colon === undefined ? palette.green(text) : `${palette.cyan(text)}:`;
    }),
  );
}

function indentedJson(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return undefined;
  }
}
