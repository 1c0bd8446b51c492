import type { RawResponse } from "../../node/clients/send-once.js";
import { findPrefix } from "../../rules/keys/key-text.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { type FieldPath, pathText } from "../../schema/field-path.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";

/** A response to judge and show, with every key removed. */
export interface RedactedResponse extends Pick<RawResponse, "status" | "version" | "reason" | "headers"> {
  /** The body as a value; `undefined` if it is not JSON, or nested too deeply. */
  readonly json: unknown;
  /** The numbers that `JSON.parse` does not keep as the body has them, by their places: 9223372036854775807, 1.50. */
  readonly numbers: ReadonlyMap<string, string>;
  /** The body; `undefined` if it is not UTF-8. */
  readonly text: string | undefined;
  /** A body that is not UTF-8, with a character for each byte; empty for UTF-8. */
  readonly textOfBytes: string;
  /** The places with a key of the comparison, sent or not: `reason phrase`, `body`, or a header's name. */
  readonly hasKeyAt: readonly string[];
}

interface RedactKeys {
  readonly text: (given: string) => string;
  readonly containsKey: (given: string) => boolean;
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedactKeys(keys: readonly string[]): RedactKeys {
  const shownBySecret = new Map<string, string>();
  for (const key of keys) {
    const prefix = findPrefix(key)?.prefix ?? "";
    const rest = key.slice(prefix.length);
    shownBySecret.set(key, `${prefix}…`).set(encodeURIComponent(key), `${prefix}…`);
    if (rest.length >= minSecretLength) shownBySecret.set(rest, "…");
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  const secrets = [...shownBySecret.keys()].sort((left, right) => right.length - left.length);
  return {
    text(given) {
      let text = given;
      for (const secret of secrets) text = text.replaceAll(secret, shownBySecret.get(secret) ?? "…");
      return redact(text);
    },
    containsKey: (given) => secrets.some((secret) => given.includes(secret)),
  };
}

export function readResponse(raw: RawResponse, redactKeys: RedactKeys): RedactedResponse {
  const { status, version, reason, headers } = raw;
  const text = decodeText(raw.body);
  const parsed = tryParseJson(text ?? "");
  const json = isTooDeep(parsed) ? undefined : parsed;

  const redactedText = text && redactKeys.text(text);
  const textOfBytes = text === undefined ? Buffer.from(raw.body).toString("latin1") : "";
  const redactedJson = mapTexts(json, redactKeys.text);
  return {
    status,
    version,
    reason: redactKeys.text(reason),
    headers: headers.map(([name, value]) => [redactKeys.text(name), redactKeys.text(value)] as const),
    text: redactedText,
    textOfBytes: redactKeys.text(textOfBytes),
    json: redactedJson,
    numbers: numbersAsWritten(redactedText ?? "", redactedJson),
    hasKeyAt: placesWithKey(raw, text ?? textOfBytes, json, redactKeys),
  };
}

/** Returns the places that have a key before it is removed, each once, even if a header is there twice. */
function placesWithKey(
  { reason, headers }: RawResponse,
  text: string,
  json: unknown,
  redactKeys: RedactKeys,
): string[] {
  const places = new Set<string>();
  if (redactKeys.containsKey(reason)) places.add("reason phrase");
  for (const [name, value] of headers) {
    if (redactKeys.containsKey(name) || redactKeys.containsKey(value)) places.add(redactKeys.text(name));
  }
  // JSON escapes can hide a key in the text, but not in the value.
  if (redactKeys.containsKey(text) || redactKeys.containsKey(JSON.stringify(json) ?? "")) places.add("body");
  return [...places];
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** So many characters of a server's text are shown. */
const mostShown = 80;

/** Prepares a server's text for display: one line, safe for terminals, shortened. */
export function shownText(text: string): string {
  if (text.length <= mostShown) return oneSafeLine(text);
  // A character such as an emoji is left out if only its first half would be shown.
  const shown = text.slice(0, mostShown).replace(/[\uD800-\uDBFF]$/, "");
  return oneSafeLine(`${shown}…`);
}

/**
 * Returns the digits of the numbers that JavaScript writes in another way than a JSON text, by their places: for
 * `{"a": 1.50}`, `a` and `1.50`. `value` is the value of the text.
 */
function numbersAsWritten(json: string, value: unknown): ReadonlyMap<string, string> {
  // The same value with a string for each number, which keeps its digits. A text that is not JSON has none.
  const valueWithDigits = tryParseJson(quoteNumbers(json));
  return new Map(numbersInOtherForm(value, valueWithDigits, []));
}

/** Makes each number in a JSON text a string: `{"a": 1.50}` becomes `{"a": "1.50"}`. */
function quoteNumbers(json: string): string {
  const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return json.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

function* numbersInOtherForm(
  value: unknown,
  valueWithDigits: unknown,
  path: FieldPath,
): Generator<[place: string, digits: string]> {
  if (typeof value === "number") {
    const digits = valueWithDigits;
    if (typeof digits === "string" && digits !== String(value)) yield [pathText(path), shownText(digits)];
    return;
  }

  if (Array.isArray(value) && Array.isArray(valueWithDigits)) {
    for (const [index, item] of value.entries()) {
      yield* numbersInOtherForm(item, valueWithDigits[index], [...path, index]);
    }
  }
  if (isMapping(value) && isMapping(valueWithDigits)) {
    for (const [name, member] of Object.entries(value)) {
      yield* numbersInOtherForm(member, valueWithDigits[name], [...path, name]);
    }
  }
}
