import type { RawResponse } from "../node/clients/send-once.js";
import { prefixIn } from "../rules/api-key.js";
import { redactEncoded, redactValue } from "../rules/redact.js";
import { isTooDeep, parsedJson } from "../rules/schema/json.js";
import { isMapping } from "../rules/schema/shape.js";
import { escapeControls } from "../rules/terminal-text.js";
import { minute } from "../rules/time.js";

/** A response to judge and show, with every key removed. */
export interface RedactedResponse extends Pick<RawResponse, "status" | "reason" | "headers"> {
  /** The body; `undefined` if it is not UTF-8. */
  readonly text: string | undefined;
  readonly json: unknown;
  /** The places that repeat the sent key: `body`, or a header's name. */
  readonly repeatsKeyAt: readonly string[];
}

export function readResponse(
  { status, reason, headers, body }: RawResponse,
  redact: Redact,
): RedactedResponse {
  const text = decodeText(body);
  const parsed = parsedJson(text ?? "");
  const json = isTooDeep(parsed) ? undefined : parsed;
  const repeating = headers.filter(([, value]) => redact.finds(value)).map(([name]) => redact.text(name));
  // JSON escapes can hide a key.
  const inBody = [text, JSON.stringify(json)].some((one) => one !== undefined && redact.finds(one));
  return {
    status,
    reason: redact.text(reason),
    headers: headers.map(([name, value]) => [redact.text(name), redact.text(value)] as const),
    text: text && redact.text(text),
    json: redactValue(json, redact.text),
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

/** Returns the value of a header with a lower-case name, several joined by `, `; `undefined` if it is missing. */
export function headerOf({ headers }: Pick<RedactedResponse, "headers">, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the minute of its `Date`; not a number without one. */
export function minuteOf(response: RedactedResponse): number {
  return Math.floor(Date.parse(headerOf(response, "date") ?? "") / minute);
}

const retryDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Returns the form of a `Retry-After`; `undefined` if no client can read it. */
export function retryAfterForm(value: string): "seconds" | "date" | undefined {
  if (/^\d+$/.test(value)) return "seconds";
  return retryDate.test(value) && !Number.isNaN(Date.parse(value)) ? "date" : undefined;
}

/** Returns a member of the body; `undefined` if it is missing. */
export function memberIn(
  { json }: Pick<RedactedResponse, "json">,
  path: readonly (string | number)[],
): unknown {
  let member = json;
  for (const step of path)
    member = isMapping(member) && Object.hasOwn(member, step) ? member[step] : undefined;
  return member;
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: RedactedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  return /^\s*text\/html\b/i.test(type) || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

/** Describes a response by its status and error code: `401 unauthorized`. */
export function describeResponse(response: RedactedResponse): string {
  const code = memberIn(response, ["error", "code"]);
  return typeof code === "string" ? `${response.status} ${shownText(code)}` : String(response.status);
}

const longest = 80;

/** Prepares a server's text for display: one line, printable, shortened. */
export function shownText(text: string): string {
  return escapeControls(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

export function quoted(text: string): string {
  return JSON.stringify(shownText(text));
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;

export interface Redact {
  readonly text: (given: string) => string;
  /** Whether a text contains one of the keys. */
  readonly finds: (given: string) => boolean;
}

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedact(secrets: readonly string[]): Redact {
  const needles = secrets
    .flatMap((secret) => {
      const prefix = prefixIn(secret)?.prefix ?? "";
      const rest = secret.slice(prefix.length);
      const whole = [secret, encodeURIComponent(secret)].map((text) => ({ text, shown: `${prefix}…` }));
      return rest.length < minSecretLength ? whole : [...whole, { text: rest, shown: "…" }];
    })
    .sort((one, other) => other.text.length - one.text.length);
  return {
    text: (given) =>
      redactEncoded(needles.reduce((all, needle) => all.replaceAll(needle.text, needle.shown), given)),
    finds: (given) => needles.some(({ text }) => given.includes(text)),
  };
}
