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
    ...headerLines({ ...(apiKey !== undefined && { "x-api-key": apiKey }), ...headers }, palette),
    ...(body === null ? [] : ["", ...bodyLines(body, palette)]),
  ];
}

/** An answer as a client reads it, line by line, and the path it is on; a missing answer in words. */
export function answerLines(
  { status, headers, body, pathId, fault }: StoryAnswer,
  palette: Palette,
): string[] {
  const paths = fault === null || fault === pathId ? [pathId] : [pathId, fault];
  const ends = paths.map((id) => palette.dim(`${id}: ${outcomeOf(id).when}`));
  if (status === 0) return [palette.red(silence[pathId] ?? "No answer comes."), ...ends];
  const { "content-length": _, date: __, connection: ___, ...shown } = headers;
  return [
    paintStatus(palette, status)(`${status} ${STATUS_CODES[status] ?? ""}`.trim()),
    ...headerLines(shown, palette),
    ...(body === "" ? [] : ["", ...bodyLines(body, palette)]),
    "",
    ...ends,
  ];
}

const silence: Readonly<Record<string, string>> = {
  "fault.reset": "The connection is reset: no answer comes.",
  "fault.hang": "Nothing comes back. A client without a timeout would wait for ever.",
};

// Of a key of the scenario only the part that all keys of its kind have in common.
function keyHeader(key: string, world: World): string | undefined {
  if (key === "none") return undefined;
  if (key === "malformed") return "…  (malformed: not a key at all)";
  if (key === "unknown") return `${prefixOf("test", false)}${sandboxMark}…  (an unknown key)`;
  const { prefix = "", marked = false } = parseApiKey(scenarioSecret(world, key)) ?? {};
  return `${prefix}${marked ? sandboxMark : ""}…  (${key})`;
}

function headerLines(headers: Readonly<Record<string, string>>, palette: Palette): string[] {
  return Object.entries(headers).map(
    ([name, value]) => `${palette.cyan(escapeControls(name))}: ${escapeControls(value)}`,
  );
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
