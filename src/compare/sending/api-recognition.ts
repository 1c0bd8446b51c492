import { isNoResponse, type NoResponse } from "../../node/clients/send-once.js";
import { isLoopbackHost } from "../../node/host-names.js";
import { pluralize } from "../../report/plain-text.js";
import { isMapping } from "../../schema/shape.js";
import type { Variables } from "../contract/keys-of-outcomes.js";
import { describeTarget, quoted } from "../response/describe.js";
import { describeUnexpected } from "../response/describe-response.js";
import { headerOf, isHtml } from "../response/headers.js";
import { memberIn } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import type { Attempt } from "./attempt.js";

// A redirect, a captive portal or a misspelled address must not get a key. So the first requests have none, and keys
// follow only if their responses can be the API's.

/** Whether the API may have responded. If it has not, `message` shows why in one or two sentences. */
export type Recognition =
  | { readonly kind: "may_be_the_api" }
  | { readonly kind: "not_the_api"; readonly message: string };

const mayBeTheApi: Recognition = { kind: "may_be_the_api" };

const passwordScheme = /(?:^|,) *(?:basic|digest|negotiate|ntlm)\b/i;

/** Recognizes the API in the response to the first request, which has no key. */
export function recognizeApi(reply: RedactedResponse | NoResponse, url: string, env: Variables): Recognition {
  if (isNoResponse(reply)) {
    const proxy = findProxyVariable(url, env);
    let { hint } = reply;
    if (proxy !== undefined) {
      hint = `${proxy} is set, but compare uses no proxy: it needs a direct connection.`;
    }
    return { kind: "not_the_api", message: `Failed to reach ${url}: ${reply.found}. ${hint}` };
  }

  const { status } = reply;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    const to = location === undefined ? "" : ` to ${describeTarget(location)}`;
    return notTheApi(
      url,
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (status === 429 || status === 503) {
    return notTheApi(
      url,
      `a request without a key gets ${describeUnexpected(reply)}`,
      "It may be a lock or a limiter of this address, perhaps after an earlier comparison. Try again later.",
    );
  }
  if (isHtml(reply)) {
    return notTheApi(
      url,
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal, another web site or a lock responds like this.",
    );
  }
  if (status === 404) {
    return notTheApi(
      url,
      "there is nothing at this path (404)",
      "The base URL is the part before /v1/relying-party/me.",
    );
  }
  const challenge = headerOf(reply, "www-authenticate") ?? "";
  if (reply.json === undefined && passwordScheme.test(challenge)) {
    return notTheApi(
      url,
      `it asks for a password (${status}, WWW-Authenticate: ${quoted(challenge)})`,
      "A proxy, or a gateway in front of the API, responds like this.",
    );
  }

  if (isLikeTheApi(reply)) return mayBeTheApi;
  return notTheApi(
    url,
    `a request without a key gets ${describeUnexpected(reply)}`,
    "The API responds with 401 and JSON.",
  );
}

/** Finds the variable with the proxy that other clients would use for this URL. */
function findProxyVariable(url: string, env: Variables): string | undefined {
  const { protocol, host } = new URL(url);
  if (isLoopbackHost(host)) return undefined;
  const scheme = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const names = [scheme, scheme.toLowerCase(), "ALL_PROXY", "all_proxy"];
  return names.find((name) => env[name]);
}

function notTheApi(url: string, found: string, hint: string): Recognition {
  return { kind: "not_the_api", message: `Failed to compare ${url}: ${found}. ${hint} No key was sent.` };
}

/** A 401 in another form is a difference, unless it is a document. Some gateways send a 403 with JSON. */
function isLikeTheApi({ status, text, json }: RedactedResponse): boolean {
  if (status === 401) return text !== undefined && !/^\s*</.test(text);
  return status === 403 && isMapping(json);
}

/**
 * Recognizes the API in the responses to all requests without a working key. A gateway can reject each path with a 403 and
 * JSON, also one where there is nothing.
 */
export function recognizeApiInAll(attempts: readonly Attempt[], url: string): Recognition {
  const [first] = attempts;
  if (first?.response === undefined || attempts.some(isOfTheApi)) return mayBeTheApi;
  const found = `${pluralize(attempts.length, "request")} without a working key got no 401 and no error.code, but ${describeUnexpected(first.response)}`;
  return notTheApi(
    url,
    found,
    "There may be nothing at this path: the base URL is the part before /v1/relying-party/me.",
  );
}

function isOfTheApi({ response }: Attempt): boolean {
  if (response === undefined) return false;
  return response.status === 401 || typeof memberIn(response, ["error", "code"]) === "string";
}
