import type { RawResponse } from "../../node/clients/send-once.js";
import { mapTexts } from "../../rules/map-texts.js";
import { type FieldPath, pathText } from "../../schema/field-path.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import { shownText } from "./describe.js";
import type { RedactKeys } from "./redact-keys.js";

/** The body of a response as a value, with every key removed. */
export interface JsonBody {
  /** `undefined` if the body is not JSON, or nested too deeply. */
  readonly json: unknown;
  /** The numbers that `JSON.parse` does not keep as the body has them, by their places: 9223372036854775807, 1.50. */
  readonly numbers: ReadonlyMap<string, string>;
}

/** A response to judge and show, with every key removed. */
export interface RedactedResponse
  extends JsonBody,
    Pick<RawResponse, "status" | "version" | "reason" | "headers"> {
  /** The body; `undefined` if it is not UTF-8. */
  readonly text: string | undefined;
  /** A body that is not UTF-8, with a character for each byte; empty for UTF-8. */
  readonly textOfBytes: string;
  /** The places with a key of the comparison, sent or not: `reason phrase`, `body`, or a header's name. */
  readonly hasKeyAt: readonly string[];
}

/** Reads a response, and removes every key from it. */
export function readResponse(raw: RawResponse, redact: RedactKeys): RedactedResponse {
  const { status, version, reason, headers } = raw;
  const text = decodeText(raw.body);
  const parsed = tryParseJson(text ?? "");
  const json = isTooDeep(parsed) ? undefined : parsed;

  const redactedText = text && redact.text(text);
  const textOfBytes = text === undefined ? Buffer.from(raw.body).toString("latin1") : "";
  const redactedJson = mapTexts(json, redact.text);
  // The body once more, with the digits of its numbers: a second tree of the same form.
  const numbersAsStrings = tryParseJson(quoteNumbers(redactedText ?? ""));
  return {
    status,
    version,
    reason: redact.text(reason),
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: redactedText,
    textOfBytes: redact.text(textOfBytes),
    json: redactedJson,
    numbers: new Map(numbersInOtherForm(redactedJson, numbersAsStrings, [])),
    hasKeyAt: placesWithKey(raw, text, json, redact),
  };
}

/** Returns the places that have a key before it is removed, each once, even if a header is there twice. */
function placesWithKey(
  { reason, headers }: RawResponse,
  text: string | undefined,
  json: unknown,
  redact: RedactKeys,
): string[] {
  const places = new Set<string>();
  if (redact.finds(reason)) places.add("reason phrase");
  for (const [name, value] of headers) {
    if (redact.finds(name) || redact.finds(value)) places.add(redact.text(name));
  }
  // JSON escapes can hide a key in the text, but not in the value.
  if (redact.finds(text ?? "") || redact.finds(JSON.stringify(json) ?? "")) places.add("body");
  return [...places];
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Makes each number in a JSON text a string, which keeps its digits: `{"a": 1.50}` becomes `{"a": "1.50"}`. */
function quoteNumbers(json: string): string {
  const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return json.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

/**
 * Yields the place and the digits of each number that JavaScript writes in another way than the body: for `{"a": 1.50}`,
 * `a` and `1.50`. The body is given twice: as a value, and as the same value with strings for its numbers.
 */
function* numbersInOtherForm(
  value: unknown,
  numbersAsStrings: unknown,
  path: FieldPath,
): Generator<[place: string, digits: string]> {
  if (typeof value === "number") {
    const isOtherForm = typeof numbersAsStrings === "string" && numbersAsStrings !== String(value);
    if (isOtherForm) yield [pathText(path), shownText(numbersAsStrings)];
    return;
  }

  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(name) : name;
    // `Object` and `Reflect`: a body that cannot be parsed a second time has no members.
    const sameMember = Reflect.get(Object(numbersAsStrings), name);
    yield* numbersInOtherForm(member, sameMember, [...path, step]);
  }
}
