import type { Assumptions } from "../rules/assumptions.js";
import { type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { TextBody } from "../sandbox/endpoint.js";

export const reasonPhrases: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  429: "Too Many Requests",
};

export function textBody(text: string): TextBody {
  return { text, bytes: utf8Length(text) };
}

export function jsonBody(value: unknown): TextBody {
  return textBody(JSON.stringify(value));
}

/** The length of a text in UTF-8 bytes; a lone surrogate counts as its three replacement bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A pair of surrogates, such as an emoji: two units, and four bytes.
    const next = text.charCodeAt(index + 1);
    const isPair = unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
    if (isPair) index++;
    // What is neither a pair nor below 0x800 has three bytes, and one unit.
    bytes += isPair || unit >= 0x800 ? 2 : 1;
  }
  return bytes;
}

/** Alternating header names and values. */
export type FlatHeaders = readonly string[];

export function headerPairs(flat: FlatHeaders): [name: string, value: string][] {
  const pairs: [name: string, value: string][] = [];
  for (let index = 0; index < flat.length; index += 2) {
    pairs.push([flat[index] as string, flat[index + 1] as string]);
  }
  return pairs;
}

/** The error body of the API (section 7 of the specification; R27). */
export function errorBody(
  code: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): TextBody {
  return jsonBody({ error: { code, message, ...(details !== undefined && { details }) } });
}

/** The error code of an outcome; `null` on success. The code of a 429 is an assumption. */
export function codeOf(outcome: OutcomeId, assumptions: Assumptions): string | null {
  const { status, code } = outcomeRow(outcome);
  return status === 429 ? assumptions.rate_limit_code : code;
}
