import type { RawAnswer } from "./probe.js";
import { type Redact, redactDeep } from "./redact.js";

/** An answer as it may be judged and shown: no key is in it any more. */
export interface Answer {
  readonly status: number;
  /** Names and values in their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body; `undefined` when it is not UTF-8. */
  readonly text: string | undefined;
  /** The body as a value; `undefined` when it is not JSON. */
  readonly json: unknown;
  /** Where a key that was sent was repeated: `body`, or the name of a header. */
  readonly repeatsKeyAt: readonly string[];
}

/** Reads an answer and takes every key out of it. */
export function readAnswer({ status, headers, body }: RawAnswer, redact: Redact): Answer {
  const text = textOf(body);
  const value = text === undefined ? undefined : jsonOf(text, redact);
  const repeating = headers.filter(([, value]) => redact.finds(value)).map(([name]) => redact.text(name));
  const inBody = text !== undefined && (redact.finds(text) || value?.repeatsKey === true);
  return {
    status,
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: text === undefined ? undefined : redact.text(text),
    json: value?.json,
    repeatsKeyAt: [...new Set([...repeating, ...(inBody ? ["body"] : [])])],
  };
}

/** The value of a header, whatever its case; several joined by `, `; `undefined` when there is none. */
export function headerOf({ headers }: Pick<Answer, "headers">, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** The member of an error body's `error`, whatever it is; `undefined` when there is none. */
export function errorMember({ json }: Pick<Answer, "json">, name: "code" | "message" | "details"): unknown {
  return memberOf(memberOf(json, "error"), name);
}

/** A member of what may be an object; `undefined` when there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the answer is a page for people: what gateways, proxies and captive portals send. */
export function isHtml(answer: Answer): boolean {
  const type = headerOf(answer, "content-type") ?? "";
  return /^\s*text\/html\b/i.test(type) || /^\s*<(?:!doctype|html)\b/i.test(answer.text ?? "");
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

// A key can hide in the escapes of a text that is JSON, so what they stand for is searched, too. The parser's own
// message is not passed on: it repeats the text. A value nested too deeply to be walked is none of this API either.
function jsonOf(text: string, redact: Redact): { json: unknown; repeatsKey: boolean } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return { json: redactDeep(json, redact), repeatsKey: redact.finds(JSON.stringify(json)) };
  } catch {
    return undefined;
  }
}
