import { createHash } from "node:crypto";
import type { RawResponse } from "../node/clients/send-once.js";
import { findPrefix } from "../rules/keys/key-text.js";
import { mapTexts, redact } from "../rules/keys/redact.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { isTooDeep, tryParseJson } from "../schema/json-text.js";
import { showInvisible } from "../schema/words.js";

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

export function readResponse(raw: RawResponse, redactKeys: RedactKeys): RedactedResponse {
  const { status, version, reason, headers, trailers = [] } = raw;
  const redactPair = ([name, value]: readonly [string, string]) =>
    [redactKeys.text(name), redactKeys.text(value)] as const;
  const given = decodeText(raw.body);
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

/** Returns a shown text, or words in its place if it looks like another one, from which it differs: both can be shortened. */
export function unlike(shown: string, other: string): string {
  return shown === other ? "another value, which begins in the same way" : shown;
}
