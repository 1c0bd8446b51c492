import { isNoResponse, type NoResponse } from "../node/clients/send-once.js";
import { pluralize } from "../report/plain-text.js";
import { isMapping } from "../schema/shape.js";
import type { Attempt } from "./attempt.js";
import { describeUnexpected } from "./judge.js";
import { headerOf, isHtml, memberIn, quoted, type RedactedResponse, shownText } from "./response.js";

const passwordScheme = /(?:^|,) *(?:basic|digest|negotiate|ntlm)\b/i;

/**
 * Returns why a host gets no key, from its response to the first request, which has none; `undefined` if the API may
 * have sent it. A redirect, a captive portal or a misspelled address must not get a key.
 */
export function whyFirstIsNotTheApi(reply: RedactedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const why = (found: string, hint: string) => `Failed to compare ${url}: ${found}. ${hint} No key was sent.`;

  const { status } = reply;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    const to = location === undefined ? "" : ` to ${shownText(location)}`;
    return why(
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (status === 429 || status === 503) {
    return why(
      `a request without a key gets ${describeUnexpected(reply)}`,
      "It may be a lock or a limiter of this address, perhaps after an earlier comparison. Try again later.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal, another web site or a lock responds like this.",
    );
  }
  if (status === 404) {
    return why(
      "there is nothing at this path (404)",
      "The base URL is the part before /v1/relying-party/me.",
    );
  }
  const challenge = headerOf(reply, "www-authenticate") ?? "";
  if (reply.json === undefined && passwordScheme.test(challenge)) {
    return why(
      `it asks for a password (${status}, WWW-Authenticate: ${quoted(challenge)})`,
      "A proxy, or a gateway in front of the API, responds like this.",
    );
  }

  if (isLikeTheApi(reply)) return undefined;
  return why(
    `a request without a key gets ${describeUnexpected(reply)}`,
    "The API responds with 401 and JSON.",
  );
}

/** A 401 in another form is a difference, unless it is a document. Some gateways send a 403 with JSON. */
function isLikeTheApi({ status, text, json }: RedactedResponse): boolean {
  if (status === 401) return text !== undefined && !/^\s*</.test(text);
  return status === 403 && isMapping(json);
}

/**
 * Returns why a host gets no key, from its responses to all requests without one. A gateway can reject each path with a
 * 403 and JSON, also one where there is nothing.
 */
export function whyNoneIsOfTheApi(attempts: readonly Attempt[], url: string): string | undefined {
  const [first] = attempts;
  if (first?.response === undefined || attempts.some(isOfTheApi)) return undefined;
  const found = `${pluralize(attempts.length, "request")} without a working key got no 401 and no error.code, but ${describeUnexpected(first.response)}`;
  return `Failed to compare ${url}: ${found}. There may be nothing at this path: the base URL is the part before /v1/relying-party/me. No key was sent.`;
}

function isOfTheApi({ response }: Attempt): boolean {
  if (response === undefined) return false;
  return response.status === 401 || typeof memberIn(response, ["error", "code"]) === "string";
}
