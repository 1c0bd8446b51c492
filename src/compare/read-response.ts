import { maxLevels, tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { quoted, type RedactedResponse, shownText } from "./response.js";

// What single parts of a response show: its headers, and the members of its body.

/**
 * The three forms of an HTTP date: `Mon, 02 Mar 2026 09:00:00 GMT`, and two that nobody may send any more, and a client must
 * still read: `Monday, 02-Mar-26 09:00:00 GMT`, and `Mon Mar  2 09:00:00 2026`, which is in GMT, too.
 */
const httpDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/** Returns the value of a header with a lower-case name, several joined by `, `; `undefined` if it is missing. */
export function headerOf(response: Pick<RedactedResponse, "headers">, name: string): string | undefined {
  const values: string[] = [];
  for (const [headerName, value] of response.headers) {
    if (headerName.toLowerCase() === name) values.push(value);
  }
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the time of the `Date` header in milliseconds; `NaN` without one. */
export function readDate(response: RedactedResponse): number {
  return readHttpDate(headerOf(response, "date") ?? "");
}

/** Returns the time of an HTTP date in milliseconds, or of what else `Date.parse` reads; `NaN` for a text without a date. */
export function readHttpDate(text: string): number {
  return Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
}

/** Returns the form of a `Retry-After`; `invalid` if RFC 9110 does not have it. */
export function retryAfterForm(value: string): "seconds" | "date" | "invalid" {
  if (/^\d+$/.test(value)) return "seconds";
  return httpDate.test(value) && !Number.isNaN(readHttpDate(value)) ? "date" : "invalid";
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: RedactedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  const isTyped = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);
  return isTyped || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

export const perMinutePath = ["data", "limits", "per_minute"] as const;
export const perDayPath = ["data", "limits", "per_day"] as const;
export const todayPath = ["data", "usage", "today"] as const;

export function memberIn(response: RedactedResponse, path: readonly string[]): unknown {
  let member = response.json;
  for (const step of path) {
    if (!isMapping(member) || !Object.hasOwn(member, step)) return undefined;
    member = member[step];
  }
  return member;
}

/** Returns a count or a limit in a success; `undefined` if it is not a whole number. */
export function wholeNumberIn(response: RedactedResponse, path: readonly string[]): number | undefined {
  const value = memberIn(response, path);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Reads a key's requests of the day, and their limit, from a 200; `undefined` if one of them is no whole number. */
export function readDayUse(
  success: RedactedResponse,
): { readonly today: number; readonly perDay: number } | undefined {
  const today = wholeNumberIn(success, todayPath);
  const perDay = wholeNumberIn(success, perDayPath);
  if (today === undefined || perDay === undefined) return undefined;
  return { today, perDay };
}

// The words of a report for what a server has sent. Two comparisons of a service must be equal, so what a service may draw
// anew for each response is described without its content.

/** Describes a value in a body without the content of mappings: `the string "60"`, `a mapping`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMapping(value)) return "a mapping";
  return `the ${typeof value} ${value}`;
}

/** Describes a value without its content, which may be another one each time: `a string`. */
export function describeKind(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (typeof value === "number") return "a number";
  return describeValue(value);
}

/** Describes a `Retry-After` in a form that clients need not be able to read; its value may be another one each time. */
export function describeInvalidWait(value: string): string {
  if (/^[-+]?[\d.]+$/.test(value)) return "another number than whole seconds";
  if (Number.isNaN(Date.parse(value))) return "neither seconds nor a date";
  return "a date in another form";
}

/** Describes the target of a redirect, whose path and query may be other ones each time. */
export function describeTarget(location: string): string {
  const origin = /^(?:[a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i.exec(location)?.[0];
  return origin === undefined ? "the same host" : shownText(origin);
}

/** Describes a response by its status and error code: `401 unauthorized`. */
export function describeResponse(response: RedactedResponse): string {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return String(response.status);
  return `${response.status} ${shownText(code)}`;
}

export function describeUnexpected(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${status}, a redirect to ${describeTarget(location)}, which was not followed`;
  }
  if (json === undefined) return `${status}, ${describeBody(response)}`;
  return describeResponse(response);
}

export function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) {
    const encoding = headerOf(response, "content-encoding");
    if (encoding === undefined) return "a body that is not UTF-8";
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  }

  if (text === "") return "an empty body";
  if (isHtml(response)) return "an HTML page";
  return tryParseJson(text) === undefined ? "text" : `JSON with more than ${maxLevels} levels`;
}
