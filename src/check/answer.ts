import type { PathId } from "../domain/outcomes.js";
import { escapeControls } from "../report/plain-text.js";
import { type Redact, redactDeep } from "./redact.js";
import type { Difference } from "./rules.js";

/** One request of a check. */
export interface Probe {
  readonly pathId: PathId;
  /** The value of the x-api-key header; `undefined` sends none. Never printed. */
  readonly apiKey: string | undefined;
  /** The environment variable that the key came from; `undefined` when it came from none. */
  readonly variable: string | undefined;
}

/** A request and its answer. */
export interface Exchange {
  readonly probe: Probe;
  readonly answer: Answer;
}

/** A path with the reply to its request, or with the reason why it was not tried. */
export interface Attempt {
  readonly probe: Probe;
  readonly reply?: Answer | NoAnswer | undefined;
  readonly reason?: string;
  /** The judgement where it takes several requests; left out, the reply is judged alone. */
  readonly difference?: Difference;
}

/** Sends one request for the key's context; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawAnswer | NoAnswer>;

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Names and values in their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Without its content encoding. */
  readonly body: Uint8Array;
}

/** The reason why there is no answer that can be read. */
export interface NoAnswer {
  /** The finding, as the rest of a sentence; may name the system's own code of the error. */
  readonly found: string;
  /** The remedy, a sentence. */
  readonly hint: string;
}

/** Whether there is no answer that can be read. */
export function isNoAnswer(reply: RawAnswer | Answer | NoAnswer): reply is NoAnswer {
  return "hint" in reply;
}

/** An answer as it may be judged and shown: every key is taken out. */
export interface Answer {
  readonly status: number;
  /** Names and values in their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body; `undefined` when it is not UTF-8. */
  readonly text: string | undefined;
  /** The body as a value; `undefined` when it is not JSON. */
  readonly json: unknown;
  /** The places that repeat the key that was sent: `body`, or the name of a header. */
  readonly repeatsKeyAt: readonly string[];
}

/** Reads an answer and takes every key out of it. */
export function readAnswer({ status, headers, body }: RawAnswer, redact: Redact): Answer {
  const text = decodeText(body);
  const value = text === undefined ? undefined : parseBody(text, redact);
  const repeating = headers.filter(([, value]) => redact.finds(value)).map(([name]) => redact.text(name));
  const inBody = text !== undefined && (redact.finds(text) || value?.repeatsKey === true);
  return {
    status,
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: text === undefined ? undefined : redact.text(text),
    json: value?.json,
    repeatsKeyAt: [...new Set([...repeating, ...(inBody ? ["body"] : [])])],
  };
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

// A key can hide in the escapes of JSON, so the values are searched, too. The parser's message is not passed on: it repeats
// the text. A value nested too deeply to be walked is not this API's either.
function parseBody(text: string, redact: Redact): { json: unknown; repeatsKey: boolean } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return { json: redactDeep(json, redact), repeatsKey: redact.finds(JSON.stringify(json)) };
  } catch {
    return undefined;
  }
}

/** Returns the value of a header, named in lower case; several joined by `, `; `undefined` when there is none. */
export function headerOf({ headers }: Pick<Answer, "headers">, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the member at a path of names in the body; `undefined` when there is none. */
export function memberAt({ json }: Pick<Answer, "json">, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    json,
  );
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the answer is a page for people, as gateways, proxies and captive portals send it. */
export function isHtml(answer: Answer): boolean {
  const type = headerOf(answer, "content-type") ?? "";
  return /^\s*text\/html\b/i.test(type) || /^\s*<(?:!doctype|html)\b/i.test(answer.text ?? "");
}

/** Describes a body that is not JSON. */
export function describeBody(answer: Answer): string {
  const { text } = answer;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  const beginning = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${isHtml(answer) ? "an HTML page" : "text"} that begins with ${beginning}`;
}

const longest = 80;

/** Returns a text of the server as it may be shown: one line, nothing unprintable, cut when long. */
export function shown(text: string): string {
  return escapeControls(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

/** Returns a text of the server in quotation marks. */
export function quoted(text: string): string {
  return JSON.stringify(shown(text));
}

/**
 * Describes a value of a body.
 *
 * @example
 * describeValue("60"); // 'the string "60"'
 * describeValue({}); // "an object"
 */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object") return "an object";
  return shown(`the ${typeof value} ${value}`);
}
