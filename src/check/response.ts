import type { ReleasedEndpoint } from "../api/endpoint.js";
import { errorShape } from "../api/openapi.js";
import type { RawResponse } from "../node/clients/send-once.js";
import { keyPrefixes } from "../rules/api-key.js";
import { escapeControls, redactEncoded, redactValue } from "../rules/redact.js";
import { isMapping, type Shape, shapeOf } from "../rules/schema/shape.js";

/** A response to judge and show, with every key removed. */
export interface CheckedResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawResponse["headers"];
  /** The body; `undefined` if it is not UTF-8. */
  readonly text: string | undefined;
  readonly json: unknown;
  /** The places that repeat the sent key: `body`, or a header's name. */
  readonly repeatsKeyAt: readonly string[];
}

export function readResponse(
  { status, reason, headers: rawHeaders, body }: RawResponse,
  redact: Redact,
): CheckedResponse {
  const text = decodeText(body);
  const value = text === undefined ? undefined : parseBody(text, redact);
  const repeating = rawHeaders
    .filter(([, header]) => redact.finds(header))
    .map(([name]) => redact.text(name));
  const inBody = text !== undefined && (redact.finds(text) || value?.repeatsKey === true);
  return {
    status,
    reason: redact.text(reason),
    headers: rawHeaders.map(([name, header]) => [redact.text(name), redact.text(header)] as const),
    text: text && redact.text(text),
    json: value?.json,
    repeatsKeyAt: [...new Set([...repeating, ...(inBody ? ["body"] : [])])],
  };
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

// JSON escapes can hide a key, so the values are searched as well. The parser's message is dropped because it repeats the
// text. A deeply nested value that exceeds the stack is not the API's either.
function parseBody(text: string, redact: Redact): { json: unknown; repeatsKey: boolean } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return { json: redact.value(json), repeatsKey: redact.finds(JSON.stringify(json)) };
  } catch {
    return undefined;
  }
}

/** Returns the value of a header with a lower-case name, several joined by `, `; `undefined` if it is missing. */
export function headerOf({ headers }: Pick<CheckedResponse, "headers">, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the minute of its `Date`; not a number without one. */
export function minuteOf(response: CheckedResponse): number {
  return Math.floor(Date.parse(headerOf(response, "date") ?? "") / 60_000);
}

/** Returns the body's member at a path of names; `undefined` if it is missing. */
export function memberAt({ json }: Pick<CheckedResponse, "json">, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isMapping(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    json,
  );
}

/** The names that the contract of an endpoint does not have: members, and headers that announce its end. */
export function undocumentedIn(
  { status, headers, json }: CheckedResponse,
  endpoint: ReleasedEndpoint,
): string[] {
  const shape = status < 400 ? endpoint.responseShape : errorShape;
  const names = headers.map(([name]) => shownText(name));
  return [
    ...unknownMembers(shape, json).slice(0, 100),
    ...names.filter((name) => /^(?:deprecation|sunset)$/i.test(name)),
  ];
}

// Skips the contents of undocumented members: names there may be data.
function unknownMembers(of: Shape, value: unknown, path = "$"): string[] {
  if (of.kind !== "mapping" || !isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const field = Object.hasOwn(of.fields, name) ? of.fields[name] : undefined;
    const at = `${path}.${name}`;
    return field === undefined ? [shownText(at)] : unknownMembers(shapeOf(field), member, at);
  });
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: CheckedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  return /^\s*text\/html\b/i.test(type) || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

/** Describes a response by its status and error code: `401 unauthorized`. */
export function describeResponse(response: CheckedResponse): string {
  const code = memberAt(response, "error", "code");
  return typeof code === "string" ? `${response.status} ${shownText(code)}` : String(response.status);
}

export function describeBody(response: CheckedResponse): string {
  const { text } = response;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  const beginning = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${isHtml(response) ? "an HTML page" : "text"} that starts with ${beginning}`;
}

/**
 * Describes a value in a body.
 *
 * @example
 * describeValue("60"); // 'the string "60"'
 * describeValue({}); // "a mapping"
 */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return isMapping(value) ? "a mapping" : `the ${typeof value} ${value}`;
}

const longest = 80;

/** Prepares a server's text for display: one line, printable, shortened. */
export function shownText(text: string): string {
  return escapeControls(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

export function quoted(text: string): string {
  return JSON.stringify(shownText(text));
}

/** From this length on, a key without its prefix cannot be one of the server's words. */
const minSecretLength = 12;

interface Redact {
  readonly text: (given: string) => string;
  readonly value: (given: unknown) => unknown;
  /** Whether a text contains one of the keys. */
  readonly finds: (given: string) => boolean;
}

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedact(secrets: readonly string[]): Redact {
  const needles = secrets
    .flatMap((secret) => {
      const prefix = keyPrefixes.find((row) => secret.startsWith(row.prefix))?.prefix ?? "";
      const rest = secret.slice(prefix.length);
      const whole = [secret, encodeURIComponent(secret)].map((text) => ({ text, shown: `${prefix}…` }));
      return rest.length < minSecretLength ? whole : [...whole, { text: rest, shown: "…" }];
    })
    .sort((one, other) => other.text.length - one.text.length);

  function text(given: string): string {
    return redactEncoded(needles.reduce((all, needle) => all.replaceAll(needle.text, needle.shown), given));
  }
  const value = (given: unknown): unknown => redactValue(given, text);
  const finds = (given: string) => needles.some((needle) => given.includes(needle.text));
  return { text, value, finds };
}
