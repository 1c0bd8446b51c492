import { pathText } from "../../schema/field-path.js";
import { maxLevels, tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { headerOf, isHtml, memberIn } from "./parts.js";
import { quoted, type RedactedResponse, shownText } from "./response.js";

// The words of a report for what a server has sent. Two comparisons of a service must be equal, so what a service may draw
// anew for each response is described without its content.

/**
 * Describes a value in a body without the content of mappings: `the string "60"`, `a mapping`, `nothing`. `digits` are those
 * that a number has in the body, if JavaScript writes it in another way: `1.50`.
 */
export function describeValue(value: unknown, digits?: string): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMapping(value)) return "a mapping";
  return `the ${typeof value} ${digits ?? value}`;
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

/** Describes a member of the body like `describeValue`, with a number as the body has it. */
export function describeMember(response: RedactedResponse, path: readonly string[]): string {
  return describeValue(memberIn(response, path), response.numbers.get(pathText(path)));
}
