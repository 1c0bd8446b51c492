import { type Answer, headerOf, isHtml } from "./answer.js";
import type { NoAnswer } from "./probe.js";
import { visible } from "./shown.js";

/**
 * Why what answers the first request, which has no key, is not taken for the API; `undefined` when it may be.
 *
 * Whoever is behind a redirect, a captive portal or a misspelt address must not get a key.
 */
export function whyNotTheApi(reply: Answer | NoAnswer, url: string): string | undefined {
  if ("kind" in reply) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    const to = location === undefined ? "" : ` to ${visible(location)}`;
    return why(
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or a captive portal redirects, get past it first.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it answers with an HTML page (${status}), not with JSON`,
      "A gateway that has nothing behind it, a proxy, a captive portal or another web site answers like this.",
    );
  }
  if (status === 404) {
    return why(
      "there is nothing at this path (404)",
      "The base URL is what stands before /v1/relying-party/me.",
    );
  }
  return undefined;
}
