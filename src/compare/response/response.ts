import type { RawResponse } from "../../node/clients/send-once.js";
import { findPrefix } from "../../rules/keys/key-text.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { type FieldPath, pathText } from "../../schema/field-path.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { codePoint, showInvisible, unicodePattern } from "../../schema/words.js";

/** A response to judge and show, with every key removed. */
export interface RedactedResponse
  extends Pick<RawResponse, "status" | "version" | "reason" | "headers" | "trailers"> {
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
/** So many characters of a key after its prefix, anywhere in it, are as good as the key. */
const lengthOfPart = 24;

/**
 * Removes these keys, their parts after the prefix, the same in base64 and hexadecimal, and everything that looks like a key
 * from a server's text, in capitals or not (R46).
 */
export function createRedactKeys(keys: readonly string[]): RedactKeys {
  const shownBySecret = new Map<string, string>();
  const partsOfKeys = new Set<string>();
  for (const key of keys) {
    const prefix = findPrefix(key)?.prefix ?? "";
    const rest = key.slice(prefix.length);
    for (const secret of [key, encodeURIComponent(key)]) {
      shownBySecret.set(lowerCase(secret), `${prefix}…`);
    }
    if (rest.length < minSecretLength) continue;
    shownBySecret.set(lowerCase(rest), "…");
    for (const text of [key, rest]) {
      const bytes = Buffer.from(text);
      for (const encoding of ["base64", "base64url", "hex"] as const) {
        shownBySecret.set(lowerCase(bytes.toString(encoding).replaceAll("=", "")), "…");
      }
    }
    for (let start = 0; start + lengthOfPart <= rest.length; start++) {
      partsOfKeys.add(lowerCase(rest.slice(start, start + lengthOfPart)));
    }
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  const secrets = [...shownBySecret.keys()].sort((left, right) => right.length - left.length);
  const containsKey = (given: string) => {
    const text = lowerCase(given);
    return secrets.some((secret) => text.includes(secret)) || findPart(text, partsOfKeys) !== undefined;
  };
  return {
    containsKey,
    text(given) {
      if (!containsKey(given)) return redact(given);
      let text = given;
      for (const secret of secrets) text = replaceIn(text, secret, shownBySecret.get(secret) ?? "…");
      for (let at = findPart(lowerCase(text), partsOfKeys); at !== undefined; ) {
        text = `${text.slice(0, at)}…${text.slice(at + lengthOfPart)}`;
        at = findPart(lowerCase(text), partsOfKeys);
      }
      return redact(text);
    },
  };
}

/** Not `toLowerCase`, which changes the length of some texts. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Finds the first place of one of the parts in a text. */
function findPart(text: string, parts: ReadonlySet<string>): number | undefined {
  if (parts.size === 0) return undefined;
  for (let start = 0; start + lengthOfPart <= text.length; start++) {
    if (parts.has(text.slice(start, start + lengthOfPart))) return start;
  }
  return undefined;
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

export function readResponse(raw: RawResponse, redactKeys: RedactKeys): RedactedResponse {
  const { status, version, reason, headers, trailers = [] } = raw;
  const redactPair = ([name, value]: readonly [string, string]) =>
    [redactKeys.text(name), redactKeys.text(value)] as const;
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
    headers: headers.map(redactPair),
    ...(trailers.length > 0 && { trailers: trailers.map(redactPair) }),
    text: redactedText,
    textOfBytes: redactKeys.text(textOfBytes),
    json: redactedJson,
    numbers: numbersAsWritten(redactedText ?? "", redactedJson),
    hasKeyAt: placesWithKey(raw, text ?? textOfBytes, json, redactKeys),
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

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
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

/** A letter of an alphabet with letters like Latin ones, or a mark that belongs to the letter before it. */
const foreignLetter = unicodePattern("^[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{M}]", "u");

/** Shows by their code points the letters of two shown texts that look alike where they begin to differ. */
export function tellApart(one: string, other: string): [one: string, other: string] {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [left = "", right = ""] = [one, other].map((text) => text.slice(start, start + 1).normalize("NFKD"));
  // `é` as one character or as two, `o` next to a Cyrillic one.
  const isAlike = left[0] === right[0] || foreignLetter().test(left) !== foreignLetter().test(right);
  if (!isAlike) return [one, other];
  return [one.replace(/[^ -~…]/gu, codePoint), other.replace(/[^ -~…]/gu, codePoint)];
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
