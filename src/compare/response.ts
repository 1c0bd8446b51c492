import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { RawResponse } from "../node/clients/send-once.js";
import { findPrefix } from "../rules/keys/key-text.js";
import { mapTexts, redact } from "../rules/keys/redact.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { isTooDeep, maxLevels, tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { showInvisible } from "../schema/words.js";

// A response without keys, what its headers and members are, and how a report describes them.

/** A response to judge and show, with every key removed. */
export interface RedactedResponse
  extends Pick<RawResponse, "status" | "version" | "reason" | "headers" | "trailers"> {
  /** The body as a value; `undefined` if it is not JSON, or nested too deeply. */
  readonly json: unknown;
  /** The body; `undefined` if it is not UTF-8: then its bytes may have a key in an encoding. */
  readonly text: string | undefined;
  /** The same to compare, with a hash in place of bytes that are not UTF-8. */
  readonly body: string;
  /** The places with a key of the comparison, sent or not: `reason phrase`, `body`, or a header's name. */
  readonly hasKeyAt: readonly string[];
}

export function readResponse(raw: RawResponse, redactKeys: RedactKeys): RedactedResponse {
  const { status, version, reason, headers, trailers = [] } = raw;
  const redactPair = ([name, value]: readonly [string, string]) =>
    [redactKeys.text(name), redactKeys.text(value)] as const;
  const given = isUtf8(raw.body) ? Buffer.from(raw.body).toString() : undefined;
  const parsed = tryParseJson(given ?? "");
  const json = isTooDeep(parsed) ? undefined : parsed;
  const hash = createHash("sha256").update(raw.body).digest("hex").slice(0, 16);

  const text = given && redactKeys.text(given);
  return {
    status,
    version,
    reason: redactKeys.text(reason),
    headers: headers.map(redactPair),
    ...(trailers.length > 0 && { trailers: trailers.map(redactPair) }),
    text,
    body: text ?? `bytes that are not UTF-8, with the hash ${hash}`,
    json: mapTexts(json, redactKeys.text),
    hasKeyAt: placesWithKey(raw, given ?? Buffer.from(raw.body).toString("latin1"), json, redactKeys),
  };
}

/** Returns the places that have a key before it is removed, each once, even if a header is there twice. */
function placesWithKey(
  { reason, headers, trailers = [] }: RawResponse,
  text: string,
  json: unknown,
  redactKeys: RedactKeys,
): string[] {
  const places = new Set<string>();
  if (redactKeys.containsKey(reason)) places.add("reason phrase");
  for (const [name, value] of [...headers, ...trailers]) {
    if (redactKeys.containsKey(name) || redactKeys.containsKey(value)) places.add(redactKeys.text(name));
  }
  // JSON escapes can hide a key in the text, but not in the value.
  if (redactKeys.containsKey(text) || redactKeys.containsKey(JSON.stringify(json) ?? "")) places.add("body");
  return [...places];
}

/** Finds and removes the keys of a comparison in a server's text. */
interface RedactKeys {
  readonly text: (given: string) => string;
  readonly containsKey: (given: string) => boolean;
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;
/** So many characters of a key after its prefix, anywhere in it, are as good as the key. */
const lengthOfPart = 24;

/**
 * Removes these keys, their parts after the prefix, the same in base64 and hexadecimal, and everything that looks like a key
 * from a server's text, in capitals or not (R46).
 */
export function createRedactKeys(keys: readonly string[]): RedactKeys {
  const shownBySecret = new Map<string, string>();
  for (const key of keys) {
    const prefix = findPrefix(key)?.prefix ?? "";
    for (const secret of [key, encodeURIComponent(key)]) shownBySecret.set(lowerCase(secret), `${prefix}…`);
    for (const form of formsOf(key, key.slice(prefix.length))) shownBySecret.set(lowerCase(form), "…");
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  const secrets = [...shownBySecret.keys()].sort((left, right) => right.length - left.length);
  const containsKey = (given: string) => {
    const text = lowerCase(given);
    return secrets.some((secret) => text.includes(secret));
  };
  return {
    containsKey,
    text(given) {
      let text = given;
      if (containsKey(given)) {
        for (const secret of secrets) text = replaceIn(text, secret, shownBySecret.get(secret) ?? "…");
      }
      return redact(text);
    },
  };
}

/** The forms in which a key is as good as itself. `rest` is the key after its prefix. */
function formsOf(key: string, rest: string): string[] {
  if (rest.length < minSecretLength) return [];
  const forms = [rest];
  for (const text of [key, rest]) {
    const bytes = Buffer.from(text);
    for (const encoding of ["base64", "base64url", "hex"] as const) {
      forms.push(bytes.toString(encoding).replaceAll("=", ""));
    }
  }
  for (let start = 0; start + lengthOfPart <= rest.length; start++) {
    forms.push(rest.slice(start, start + lengthOfPart));
  }
  return forms;
}

/** Not `toLowerCase`, which changes the length of some texts. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Replaces a lower-case secret in a text, whose letters can be capitals. */
function replaceIn(text: string, secret: string, shown: string): string {
  const searched = lowerCase(text);
  let replaced = "";
  let end = 0;
  for (let at = searched.indexOf(secret); at >= 0; at = searched.indexOf(secret, end)) {
    replaced += text.slice(end, at) + shown;
    end = at + secret.length;
  }
  return replaced + text.slice(end);
}

/**
 * The three forms of an HTTP date: `Mon, 02 Mar 2026 09:00:00 GMT`, and two that nobody may send any more, and a client must
 * still read: `Monday, 02-Mar-26 09:00:00 GMT`, and `Mon Mar  2 09:00:00 2026`, which is in GMT, too.
 */
const httpDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/** Returns the value of a header with a lower-case name, several joined by `, `; `undefined` if it is missing. */
export function headerOf(response: Pick<RedactedResponse, "headers">, name: string): string | undefined {
  const values: string[] = [];
  for (const [headerName, value] of response.headers) {
    if (headerName.toLowerCase() === name) values.push(value);
  }
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the time of an HTTP date in milliseconds, or of what else `Date.parse` reads; `NaN` for a text without a date. */
export function readHttpDate(text: string): number {
  return Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
}

/** Returns the form of a `Retry-After`; `invalid` if RFC 9110 does not have it. */
export function retryAfterForm(value: string): "seconds" | "date" | "invalid" {
  if (/^\d+$/.test(value)) return "seconds";
  return httpDate.test(value) && !Number.isNaN(readHttpDate(value)) ? "date" : "invalid";
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: RedactedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  const isTyped = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);
  return isTyped || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

export const perMinutePath = ["data", "limits", "per_minute"] as const;
export const perDayPath = ["data", "limits", "per_day"] as const;
export const todayPath = ["data", "usage", "today"] as const;

export function memberIn(response: RedactedResponse, path: readonly string[]): unknown {
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

/** Reads a key's requests of the day, and their limit, from a 200; `undefined` if one of them is no whole number. */
export function readDayUse(
  success: RedactedResponse,
): { readonly today: number; readonly perDay: number } | undefined {
  const today = wholeNumberIn(success, todayPath);
  const perDay = wholeNumberIn(success, perDayPath);
  if (today === undefined || perDay === undefined) return undefined;
  return { today, perDay };
}

// The words of a report for what a server has sent. Two comparisons of a service must be equal, so what a service may draw
// anew for each response is described without its content.

/** Describes a value in a body without the content of mappings: `the string "60"`, `a mapping`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMapping(value)) return "a mapping";
  return `the ${typeof value} ${value}`;
}

/** Describes a response by its status and what tells most: `401 unauthorized`, `502, an HTML page`. */
export function describeResponse(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined) {
    // Its path and query may be other ones each time.
    const [origin = "the same host"] = /^(?:[a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i.exec(location) ?? [];
    return `${status}, a redirect to ${shownText(origin)}, which was not followed`;
  }
  if (json === undefined) return `${status}, ${describeBody(response)}`;
  const code = memberIn(response, ["error", "code"]);
  return typeof code === "string" ? `${status} ${shownText(code)}` : String(status);
}

/** Describes a body that is no JSON, or too deep. */
export function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) {
    const encoding = headerOf(response, "content-encoding");
    if (encoding === undefined) return "a body that is not UTF-8";
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  }

  if (text === "") return "an empty body";
  if (isHtml(response)) return "an HTML page";
  return tryParseJson(text) === undefined ? "text" : `JSON with more than ${maxLevels} levels`;
}

/** So many characters of a server's text are shown. */
const mostShown = 80;

/** Prepares a server's text for display: one line, safe for terminals, shortened, with what nobody can see by its code point. */
export function shownText(text: string): string {
  return oneSafeLine(showInvisible(shortened(text)));
}

/** The same in quotation marks. */
export function quoted(text: string): string {
  return oneSafeLine(showInvisible(JSON.stringify(shortened(text))));
}

function shortened(text: string): string {
  if (text.length <= mostShown) return text;
  // A character such as an emoji is left out if only its first half would be shown.
  return `${text.slice(0, mostShown).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Returns a shown text, or words in its place if it looks like another one, from which it differs: both can be shortened. */
export function unlike(shown: string, other: string): string {
  return shown === other ? "another value, which begins in the same way" : shown;
}
