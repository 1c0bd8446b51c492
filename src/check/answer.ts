import { isMapping } from "../domain/json.js";
import { escapeControls } from "../domain/printable.js";
import type { Redact } from "./redact.js";

/** Sends one request for the key's context, without a key for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawAnswer | NoAnswer>;

type Headers = readonly (readonly [name: string, value: string])[];

export interface RawAnswer {
  readonly status: number;
  /** Names and values in their order and casing. */
  readonly headers: Headers;
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

export function isNoAnswer(reply: RawAnswer | Answer | NoAnswer): reply is NoAnswer {
  return "hint" in reply;
}

/** An answer as it may be judged and shown: every key is taken out. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body; `undefined` when it is not UTF-8. */
  readonly text: string | undefined;
  /** The body as a value; `undefined` when it is not JSON. */
  readonly json: unknown;
  /** The places that repeat the key that was sent: `body`, or the name of a header. */
  readonly repeatsKeyAt: readonly string[];
}

/** Reads an answer and takes every key out of it. */
export function readAnswer({ status, headers: rawHeaders, body }: RawAnswer, redact: Redact): Answer {
  const text = decodeText(body);
  const value = text === undefined ? undefined : parseBody(text, redact);
  const repeating = rawHeaders
    .filter(([, header]) => redact.finds(header))
    .map(([name]) => redact.text(name));
  const inBody = text !== undefined && (redact.finds(text) || value?.repeatsKey === true);
  return {
    status,
    headers: rawHeaders.map(([name, header]) => [redact.text(name), redact.text(header)] as const),
    text: text && redact.text(text),
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
    return { json: redact.value(json), repeatsKey: redact.finds(JSON.stringify(json)) };
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
    (value, name) => (isMapping(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    json,
  );
}

/** Whether the answer is a page for people, as gateways, proxies and captive portals send it. */
export function isHtml(answer: Answer): boolean {
  const type = headerOf(answer, "content-type") ?? "";
  return /^\s*text\/html\b/i.test(type) || /^\s*<(?:!doctype|html)\b/i.test(answer.text ?? "");
}

/** Describes an answer by its status and the code of its error: `401 unauthorized`. */
export function describeAnswer(answer: Answer): string {
  const code = memberAt(answer, "error", "code");
  return typeof code === "string" ? `${answer.status} ${shown(code)}` : String(answer.status);
}

/** Describes a body that is not JSON. */
export function describeBody(answer: Answer): string {
  const { text } = answer;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  const beginning = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${isHtml(answer) ? "an HTML page" : "text"} that starts with ${beginning}`;
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
  return isMapping(value) ? "an object" : `the ${typeof value} ${value}`;
}

const longest = 80;

/** Returns a text of the server as it may be shown: one line, nothing unprintable, cut when long. */
export function shown(text: string): string {
  return escapeControls(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

export function quoted(text: string): string {
  return JSON.stringify(shown(text));
}
