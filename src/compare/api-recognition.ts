import { isNoResponse, type NoResponse } from "../node/clients/send-once.js";
import { isLoopbackHost } from "../node/host-names.js";
import { isMapping } from "../schema/type-tag.js";
import type { Variables } from "./keys.js";
import { describeResponse, headerOf, isHtml, quoted, type RedactedResponse } from "./response.js";

// A redirect, a captive portal or a misspelled address must not get a key. So the first request has none, and keys follow only
// if its response can be the API's.

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
  if (isNoResponse(reply)) {
    return `Failed to reach ${url}: ${reply.found}. ${hintForConnection(reply, url, env)}`;
  }
  const stranger = recognizeStranger(reply);
  return stranger && `Failed to compare ${url}: ${stranger.sign}. ${stranger.hint} No key was sent.`;
}

function hintForConnection({ hint }: NoResponse, url: string, env: Variables): string {
  const { protocol, hostname } = new URL(url);
  if (isLoopbackHost(hostname)) return hint;
  const scheme = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = [scheme, scheme.toLowerCase(), "ALL_PROXY", "all_proxy"].find((name) => env[name]);
  if (proxy === undefined) return hint;
  return `${hint} ${proxy} is set, but compare uses no proxy: it needs a direct connection.`;
}

/**
 * Recognizes what has responded, if it is not the API: a sign of it, and what to do, or what it may be. The first sign counts, as
 * it tells most.
 */
function recognizeStranger(response: RedactedResponse) {
  const { status, json, text = "" } = response;
  const got = `a request without a key gets ${describeResponse(response)}`;
  const challenge = headerOf(response, "www-authenticate") ?? "";
  const asksForPassword = json === undefined && passwordScheme.test(challenge.replaceAll(quotedText, ""));
  if (status >= 300 && status < 400) {
    return {
      sign: got,
      hint: "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    };
  }
  if (status === 429 || status === 503) {
    return {
      sign: got,
      hint: "It may be a lock or a limiter of this address, perhaps after an earlier comparison. Try again later.",
    };
  }
  // What nginx says, without a certificate and with another one.
  if (status === 400 && /SSL certificate/i.test(text)) {
    return {
      sign: "it asks for a certificate of the client (mutual TLS), or rejects it",
      hint: "Give it one that it trusts, with --cert and --key.",
    };
  }
  if (status === 404) {
    return {
      sign: got,
      hint: "There is nothing at this path: the base URL is the part before /v1/relying-party/me.",
    };
  }
  if (isHtml(response) || asksForPassword) {
    return {
      sign: asksForPassword ? `${got}, which asks for a password: ${quoted(challenge)}` : got,
      hint: "A gateway, a proxy, a captive portal, another web site or a lock responds like this.",
    };
  }

  // A 401 in another form is a difference, unless it is a document, such as `<error>`. Some gateways send a 403 with JSON.
  if (status === 401 && response.text !== undefined && !/^\s*</.test(text)) return undefined;
  if (status === 403 && isMapping(json)) return undefined;
  return { sign: got, hint: "The API responds with 401 and JSON." };
}
