import { pathText } from "../../schema/field-path.js";
import { describeTarget, describeValue, quoted, shownText } from "./describe.js";
import { headerOf, isHtml } from "./headers.js";
import { memberIn } from "./members.js";
import type { RedactedResponse } from "./redacted-response.js";

/** Describes a response by its status and error code: `401 unauthorized`. */
export function describeResponse(response: RedactedResponse): string {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return String(response.status);
  return `${response.status} ${shownText(code)}`;
}

/** Describes a response whose status is not the expected one. */
export function describeUnexpected(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${status}, a redirect to ${describeTarget(location)}, which was not followed`;
  }
  if (json === undefined) return `${status}, ${describeBody(response)}`;
  return describeResponse(response);
}

/** Describes a body that is not JSON. */
export function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) {
    const encoding = headerOf(response, "content-encoding");
    if (encoding === undefined) return "a body that is not UTF-8";
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  }

  if (text === "") return "an empty body";
  return isHtml(response) ? "an HTML page" : "text";
}

/** Describes a member of the body like `describeValue`, with a number as the body has it. */
export function describeMember(response: RedactedResponse, path: readonly string[]): string {
  return describeValue(memberIn(response, path), response.numbers.get(pathText(path)));
}
