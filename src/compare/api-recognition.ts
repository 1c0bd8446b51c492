import { isNoResponse, type NoResponse } from "../node/clients/send-once.js";
import { isLoopbackHost } from "../node/host-names.js";
import { pluralize } from "../report/plain-text.js";
import { isMapping } from "../schema/type-tag.js";
import type { Variables } from "./keys.js";
import {
  describeResponse,
  describeTarget,
  headerOf,
  isHtml,
  memberIn,
  quoted,
  type RedactedResponse,
} from "./response.js";

// A redirect, a captive portal or a misspelled address must not get a key. So the first requests have none, and keys
// follow only if their responses can be the API's.

/** `Basic realm="proxy"`, also after another challenge and a comma. */
const passwordScheme = /(?:^|,) *(?:basic|digest|negotiate|ntlm)\b/i;
/** `"orders, basic plan"`, also with an escaped quotation mark. */
const quotedText = /"(?:[^"\\]|\\.)*"/g;

/** Returns why the response to the first request, which has no key, is not the API's; `undefined` if it may be. */
export function whyNotTheApi(
  reply: RedactedResponse | NoResponse,
  url: string,
  env: Variables,
): string | undefined {
  if (!isNoResponse(reply)) return recognizeResponder(reply, url);

  const proxy = findProxyVariable(url, env);
  let { hint } = reply;
  if (proxy !== undefined) {
    hint += ` ${proxy} is set, but compare uses no proxy: it needs a direct connection.`;
  }
  return `Failed to reach ${url}: ${reply.found}. ${hint}`;
}

/** Recognizes who has responded. The first sign counts: it tells most of what responds. */
function recognizeResponder(response: RedactedResponse, url: string): string | undefined {
  const { status, json } = response;
  if (status >= 300 && status < 400) {
    const location = headerOf(response, "location");
    const target = location === undefined ? "" : ` to ${describeTarget(location)}`;
    return notTheApi(
      url,
      `it redirects${target} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (status === 429 || status === 503) {
    return notTheApi(
      url,
      `a request without a key gets ${describeResponse(response)}`,
      "It may be a lock or a limiter of this address, perhaps after an earlier comparison. Try again later.",
    );
  }
  // What nginx says, without a certificate and with another one.
  if (status === 400 && /SSL certificate/i.test(response.text ?? "")) {
    return notTheApi(
      url,
      "it asks for a certificate of the client (mutual TLS), or rejects it",
      "Give it one that it trusts, with --cert and --key.",
    );
  }
  if (isHtml(response)) {
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
  const challenge = headerOf(response, "www-authenticate") ?? "";
  if (json === undefined && passwordScheme.test(challenge.replaceAll(quotedText, ""))) {
    return notTheApi(
      url,
      `it asks for a password (${status}, WWW-Authenticate: ${quoted(challenge)})`,
      "A proxy, or a gateway in front of the API, responds like this.",
    );
  }

  if (isLikeTheApi(response)) return undefined;
  return notTheApi(
    url,
    `a request without a key gets ${describeResponse(response)}`,
    "The API responds with 401 and JSON.",
  );
}

/** `sign` is what was seen of what responds, and `hint` is what to do, or what it may be. */
function notTheApi(url: string, sign: string, hint: string): string {
  return `Failed to compare ${url}: ${sign}. ${hint} No key was sent.`;
}

/** A 401 in another form is a difference, unless it is a document, such as `<error>`. Some gateways send a 403 with JSON. */
function isLikeTheApi({ status, text, json }: RedactedResponse): boolean {
  if (status === 401) return text !== undefined && !/^\s*</.test(text);
  return status === 403 && isMapping(json);
}

/**
 * Returns why the responses to all requests without a working key are not the API's. A gateway can reject each path with a 403
 * and JSON, also one where there is nothing.
 */
export function whyNoneIsOfTheApi(
  responses: readonly (RedactedResponse | undefined)[],
  url: string,
): string | undefined {
  const [first] = responses;
  // Without a first response, the comparison has already ended.
  if (first === undefined || responses.some(isOfTheApi)) return undefined;

  const requests = pluralize(responses.length, "request");
  const got = describeResponse(first);
  return `Failed to compare ${url}: ${requests} without a working key got no 401 and no error.code, but ${got}. There may be nothing at this path: the base URL is the part before /v1/relying-party/me. No key of yours was sent.`;
}

export function isOfTheApi(response: RedactedResponse | undefined): boolean {
  if (response === undefined) return false;
  return response.status === 401 || typeof memberIn(response, ["error", "code"]) === "string";
}

function findProxyVariable(url: string, env: Variables): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (isLoopbackHost(hostname)) return undefined;
  const scheme = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  return [scheme, scheme.toLowerCase(), "ALL_PROXY", "all_proxy"].find((name) => env[name]);
}
