import type { Assumptions } from "../rules/assumptions.js";
import { type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { Delivery, TextBody } from "../sandbox/call.js";

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

/** The length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  for (let index = 0; index < text.length; index++) {
    const isAscii = text.charCodeAt(index) < 128;
    if (!isAscii) return new TextEncoder().encode(text).length;
  }
  return text.length;
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

/** At most so many parts are sent each second. */
const mostPartsPerSecond = 20;

/** The parts in which adapters send a body that may be cut or slow, and the pause before each. */
export function bodyParts(
  body: string,
  { cutAfter, bytesPerSecond }: Partial<Pick<Delivery, "cutAfter" | "bytesPerSecond">>,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  // Without `cutAfter`, all of the body.
  const sentBytes = new TextEncoder().encode(body).subarray(0, cutAfter);
  if (bytesPerSecond === undefined) {
    const parts = sentBytes.length === 0 ? [] : [sentBytes];
    return { parts, pauseMs: 0 };
  }

  // The pause follows from the bytes, which are whole: 30 bytes a second are 2 bytes each 66.7 ms.
  const bytes = Math.ceil(bytesPerSecond / mostPartsPerSecond);
  const pauseMs = (1000 * bytes) / bytesPerSecond;
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sentBytes.length; start += bytes) {
    parts.push(sentBytes.subarray(start, start + bytes));
  }
  return { parts, pauseMs };
}
