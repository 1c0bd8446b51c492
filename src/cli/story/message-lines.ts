import { STATUS_CODES } from "node:http";
import { parseApiKey, sandboxMark } from "../../rules/keys/key-text.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretToSend } from "../../sandbox/secrets.js";
import type { SentRequest, StoryResponse } from "../../sandbox/step-results.js";
import { tryParseJson } from "../../schema/json-text.js";
import { type Palette, paintStatus, type Style } from "../output/terminal.js";

/** Returns a request as a client writes it, line by line: everything that is sent, except the key. */
export function requestLines(request: SentRequest, sandbox: SandboxState, { palette }: Style): string[] {
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
export function responseLines(response: StoryResponse, { palette }: Style): string[] {
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
