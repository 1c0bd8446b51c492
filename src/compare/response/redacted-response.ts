import type { RawResponse } from "../../node/clients/send-once.js";
import { mapTexts } from "../../rules/keys/redact.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import { numbersAsWritten } from "./numbers-as-written.js";
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
  return {
    status,
    version,
    reason: redact.text(reason),
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: redactedText,
    textOfBytes: redact.text(textOfBytes),
    json: redactedJson,
    numbers: numbersAsWritten(redactedText ?? "", redactedJson),
    hasKeyAt: placesWithKey(raw, text ?? textOfBytes, json, redact),
  };
}

/** Returns the places that have a key before it is removed, each once, even if a header is there twice. */
function placesWithKey(
  { reason, headers }: RawResponse,
  text: string,
  json: unknown,
  redact: RedactKeys,
): string[] {
  const places = new Set<string>();
  if (redact.containsKey(reason)) places.add("reason phrase");
  for (const [name, value] of headers) {
    if (redact.containsKey(name) || redact.containsKey(value)) places.add(redact.text(name));
  }
  // JSON escapes can hide a key in the text, but not in the value.
  if (redact.containsKey(text) || redact.containsKey(JSON.stringify(json) ?? "")) places.add("body");
  return [...places];
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
