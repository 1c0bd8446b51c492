import { isNoResponse, type NoResponse } from "../node/clients/send-once.js";
import { isMapping } from "../rules/schema/shape.js";
import { describeOutcome } from "./judge.js";
import { headerOf, isHtml, quoted, type RedactedResponse, shownText } from "./response.js";

/**
 * Returns why a host gets no key, from its response to the first request, which has none; `undefined` if the API may
 * have sent it. A redirect, a captive portal or a misspelled address must not get a key.
 */
export function whyNotTheApi(reply: RedactedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to compare ${url}: ${found}. ${hint} No key was sent.`;
  const location = headerOf(reply, "location");
  const to = location === undefined ? "" : ` to ${shownText(location)}`;
  if (status >= 300 && status < 400)
    return why(
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  if (isHtml(reply))
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal or another web site responds like this.",
    );
  if (status === 404)
    return why(
      "there is nothing at this path (404)",
      "The base URL is the part before /v1/relying-party/me.",
    );
  const challenge = headerOf(reply, "www-authenticate") ?? "";
  if (reply.json === undefined && /(?:^|,) *(?:basic|digest|negotiate|ntlm)\b/i.test(challenge))
    return why(
      `it asks for a password (${status}, WWW-Authenticate: ${quoted(challenge)})`,
      "A proxy, or a gateway in front of the API, responds like this.",
    );
  if (isLikeTheApi(reply)) return undefined;
  return why(`a request without a key gets ${describeOutcome(reply)}`, "The API responds with 401 and JSON.");
}

/** A 401 in another form is a difference, unless it is a document. Some gateways send a 403 with JSON. */
function isLikeTheApi({ status, text, json }: RedactedResponse): boolean {
  return (status === 401 && text !== undefined && !/^\s*</.test(text)) || (status === 403 && isMapping(json));
}
