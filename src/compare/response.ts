import type { RawResponse } from "../node/clients/send-once.js";
import { findPrefix } from "../rules/api-key.js";
import { redactEncoded, redactValue } from "../rules/redact.js";
import { escapeControls } from "../rules/terminal-text.js";
import { isTooDeep, tryParseJson } from "../schema/json.js";
import { type FieldPath, isMapping, pathText } from "../schema/shape.js";

/** A response to judge and show, with every key removed. */
export interface RedactedResponse extends Pick<RawResponse, "status" | "version" | "reason" | "headers"> {
  /** The body; `undefined` if it is not UTF-8. */
  readonly text: string | undefined;
  /** The body as a value; `undefined` if it is not JSON, or nested too deeply. */
  readonly json: unknown;
  /** The numbers that `JSON.parse` does not keep as the body has them, by their places: 9223372036854775807, 1.50. */
  readonly numbers: ReadonlyMap<string, string>;
  /** The places with a key of the comparison, sent or not: `reason phrase`, `body`, or a header's name. */
  readonly hasKeyAt: readonly string[];
}

/** Removes the keys of a comparison from texts. */
export interface Redact {
  readonly text: (given: string) => string;
  /** Whether a text contains one of the keys. */
  readonly finds: (given: string) => boolean;
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;

/** So many characters of a server's text are shown. */
const mostShown = 80;

const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const hourMinuteSecond = "\\d\\d:\\d\\d:\\d\\d";
const currentDate = new RegExp(
  `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d ${month} \\d{4} ${hourMinuteSecond} GMT$`,
);
/** Two forms of an HTTP date that nobody may send any more, and a client must still read (RFC 9110). */
const oldDates = [
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d\\d-${month}-\\d\\d ${hourMinuteSecond} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} [ \\d]\\d ${hourMinuteSecond} \\d{4}$`),
];

export const perMinutePath = ["data", "limits", "per_minute"] as const;
export const perDayPath = ["data", "limits", "per_day"] as const;
export const todayPath = ["data", "usage", "today"] as const;

/** Reads a response, and removes every key from it. */
export function readResponse(raw: RawResponse, redact: Redact): RedactedResponse {
  const { status, version, reason, headers } = raw;
  const text = decodeText(raw.body);
  const parsed = tryParseJson(text ?? "");
  const json = isTooDeep(parsed) ? undefined : parsed;

  // Before the keys are removed. A place has its name once, even if a header is there twice.
  const hasKeyAt = new Set<string>();
  if (redact.finds(reason)) hasKeyAt.add("reason phrase");
  for (const [name, value] of headers) {
    if (redact.finds(name) || redact.finds(value)) hasKeyAt.add(redact.text(name));
  }
  // JSON escapes can hide a key.
  const bodies = [text ?? "", JSON.stringify(json) ?? ""];
  if (bodies.some(redact.finds)) hasKeyAt.add("body");

  const redactedText = text && redact.text(text);
  const redactedJson = redactValue(json, redact.text);
  const numbers = new Map<string, string>();
  addNumbers(redactedJson, tryParseJson(quoteNumbers(redactedText ?? "")), [], numbers);
  return {
    status,
    version,
    reason: redact.text(reason),
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: redactedText,
    json: redactedJson,
    numbers,
    hasKeyAt: [...hasKeyAt],
  };
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Makes each number in a JSON text a string, which keeps its digits. */
function quoteNumbers(json: string): string {
  const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return json.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

/** Adds the numbers of a value whose digits JavaScript writes in another way; `withTexts` is the value with strings for them. */
function addNumbers(value: unknown, withTexts: unknown, path: FieldPath, numbers: Map<string, string>): void {
  if (typeof value === "number") {
    const isOtherForm = typeof withTexts === "string" && withTexts !== String(value);
    if (isOtherForm) numbers.set(pathText(path), shownText(withTexts));
    return;
  }

  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(name) : name;
    addNumbers(member, Reflect.get(Object(withTexts), name), [...path, step], numbers);
  }
}

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedact(secrets: readonly string[]): Redact {
  const needles: { readonly text: string; readonly shown: string }[] = [];
  for (const secret of secrets) {
    const prefix = findPrefix(secret)?.prefix ?? "";
    const shortForm = `${prefix}…`;
    needles.push({ text: secret, shown: shortForm }, { text: encodeURIComponent(secret), shown: shortForm });
    const rest = secret.slice(prefix.length);
    if (rest.length >= minSecretLength) needles.push({ text: rest, shown: "…" });
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  needles.sort((one, other) => other.text.length - one.text.length);
  return {
    text(given) {
      let text = given;
      for (const needle of needles) text = text.replaceAll(needle.text, needle.shown);
      return redactEncoded(text);
    },
    finds: (given) => needles.some(({ text }) => given.includes(text)),
  };
}

/** Returns the value of a header with a lower-case name, several joined by `, `; `undefined` if it is missing. */
export function headerOf(response: Pick<RedactedResponse, "headers">, name: string): string | undefined {
  const values: string[] = [];
  for (const [other, value] of response.headers) if (other.toLowerCase() === name) values.push(value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the time of the `Date` header in milliseconds; `NaN` without one. */
export function readDate(response: RedactedResponse): number {
  return Date.parse(headerOf(response, "date") ?? "");
}

/** Returns the form of a `Retry-After`; `invalid` if RFC 9110 does not have it. */
export function retryAfterForm(value: string): "seconds" | "date" | "old_date" | "invalid" {
  if (/^\d+$/.test(value)) return "seconds";
  if (Number.isNaN(Date.parse(value))) return "invalid";
  if (currentDate.test(value)) return "date";
  return oldDates.some((pattern) => pattern.test(value)) ? "old_date" : "invalid";
}

/** Returns a member of the body; `undefined` if it is missing. */
export function memberIn(
  response: Pick<RedactedResponse, "json">,
  path: readonly (string | number)[],
): unknown {
  let member = response.json;
  for (const step of path) {
    if (!isMapping(member) || !Object.hasOwn(member, step)) return undefined;
    member = member[step];
  }
  return member;
}

/** Returns a count or a limit in a success; `undefined` if it is not a whole number. */
export function wholeNumberIn(response: RedactedResponse, path: readonly string[]): number | undefined {
  const value = memberIn(response, path);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Returns a number of the body with the digits that it has there. */
export function numberText(
  response: Pick<RedactedResponse, "json" | "numbers">,
  path: readonly string[],
): string {
  return response.numbers.get(pathText(path)) ?? String(memberIn(response, path));
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: RedactedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  const isTyped = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);
  return isTyped || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

/** Describes a response by its status and error code: `401 unauthorized`. */
export function describeResponse(response: RedactedResponse): string {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return String(response.status);
  return `${response.status} ${shownText(code)}`;
}

/** Describes a value in a body without the content of mappings: `the string "60"`, `a mapping`, `nothing`. */
export function describeValue(value: unknown, text = String(value)): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMapping(value)) return "a mapping";
  return `the ${typeof value} ${text}`;
}

/** Describes a value without its content, which may be another one each time: `a string`. */
export function describeKind(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (typeof value === "number") return "a number";
  return describeValue(value);
}

/** Describes a member of the body like `describeValue`, with a number as the body has it. */
export function describeMember(response: RedactedResponse, path: readonly string[]): string {
  return describeValue(memberIn(response, path), numberText(response, path));
}

/** Prepares a server's text for display: one line, printable, shortened. */
export function shownText(text: string): string {
  return escapeControls(text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);
}

/** Describes a `Retry-After` in a form that no client must be able to read; its value may be another one each time. */
export function describeInvalidWait(value: string): string {
  if (/^[-+]?[\d.]+$/.test(value)) return "another number than whole seconds";
  if (Number.isNaN(Date.parse(value))) return "neither seconds nor a date";
  return "a date in another form";
}

/** Describes the target of a redirect, whose path and query may be other ones each time. */
export function describeTarget(location: string): string {
  const origin = /^(?:[a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i.exec(location)?.[0];
  return origin === undefined ? "the same host" : shownText(origin);
}

export function quoted(text: string): string {
  return JSON.stringify(shownText(text));
}
