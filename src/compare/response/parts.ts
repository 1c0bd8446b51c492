import { pathText } from "../../schema/field-path.js";
import { isMapping } from "../../schema/type-tag.js";
import type { RedactedResponse } from "./response.js";

// What single parts of a response show: its headers, and the members of its body.

const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const hourMinuteSecond = "\\d\\d:\\d\\d:\\d\\d";
/** `Mon, 02 Mar 2026 09:00:00 GMT`. */
const currentDate = new RegExp(
  `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d ${month} \\d{4} ${hourMinuteSecond} GMT$`,
);
// Two forms of an HTTP date that nobody may send any more, and a client must still read (RFC 9110).
/** `Monday, 02-Mar-26 09:00:00 GMT`. */
const dateWithDashes = new RegExp(
  `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d\\d-${month}-\\d\\d ${hourMinuteSecond} GMT$`,
);
/** `Mon Mar  2 09:00:00 2026`, which is in GMT, too. */
const dateWithoutZone = new RegExp(
  `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} [ \\d]\\d ${hourMinuteSecond} \\d{4}$`,
);

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
  return Date.parse(dateWithoutZone.test(text) ? `${text} GMT` : text);
}

/** Returns the form of a `Retry-After`; `invalid` if RFC 9110 does not have it. */
export function retryAfterForm(value: string): "seconds" | "date" | "old_date" | "invalid" {
  if (/^\d+$/.test(value)) return "seconds";
  if (Number.isNaN(Date.parse(value))) return "invalid";
  if (currentDate.test(value)) return "date";
  const isOld = dateWithDashes.test(value) || dateWithoutZone.test(value);
  return isOld ? "old_date" : "invalid";
}

/** Whether the response is an HTML page, for example from a gateway, proxy or captive portal. */
export function isHtml(response: RedactedResponse): boolean {
  const type = headerOf(response, "content-type") ?? "";
  const isTyped = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);
  return isTyped || /^\s*<(?:!doctype|html)\b/i.test(response.text ?? "");
}

/** The `WWW-Authenticate` of a response: no challenge, one challenge in its parts, or another text, such as two challenges. */
type Challenge =
  | { readonly kind: "none" | "another_text" }
  | {
      readonly kind: "one";
      readonly headerName: string;
      readonly scheme: string;
      /** The values are as the response writes them, for example with quotation marks. */
      readonly parameters: readonly { readonly name: string; readonly value: string }[];
    };

/** `realm="api"`, or `max_age=60`. */
const nameAndValue = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/;
const parameterList = `${nameAndValue.source}(?: *, *${nameAndValue.source})*`;
/** `ApiKey`, or `ApiKey realm="api", error="invalid"`, but not two challenges, such as `Basic realm="a", ApiKey realm="b"`. */
const oneChallenge = new RegExp(`^([\\w-]+)(?: +${parameterList})?$`);

export function readChallenge(response: RedactedResponse): Challenge {
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate");
  if (header === undefined) return { kind: "none" };

  const [headerName] = header;
  const challenge = headerOf(response, "www-authenticate") ?? "";
  const scheme = oneChallenge.exec(challenge)?.[1];
  if (scheme === undefined) return { kind: "another_text" };

  const parameters: { name: string; value: string }[] = [];
  for (const [, name = "", value = ""] of challenge
    .slice(scheme.length)
    .matchAll(new RegExp(nameAndValue, "g"))) {
    parameters.push({ name, value });
  }
  return { kind: "one", headerName, scheme, parameters };
}

export const perMinutePath = ["data", "limits", "per_minute"] as const;
export const perDayPath = ["data", "limits", "per_day"] as const;
export const organizationIdPath = ["data", "organization", "id"] as const;
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

/** Returns the number at a place of the body with the digits that it has there: `1.50` for 1.5. */
export function numberText(response: RedactedResponse, path: readonly string[], value: number): string {
  return response.numbers.get(pathText(path)) ?? String(value);
}
