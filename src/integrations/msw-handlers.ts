import type { HttpHandler } from "msw";
import * as msw from "msw";
import { readBaseUrl } from "../library/base-url.js";
import type { Sandbox } from "../library/sandbox.js";
import { requireSandbox, stateOf } from "../library/sandbox-api.js";
import { clientOfMsw, respondToWebRequest } from "../library/web-request.js";
import { SandboxError } from "../rules/errors.js";
import { requireKnownOptions } from "../rules/validation.js";
import { quote } from "../schema/words.js";

// What the entry points `svc-sandbox/msw` for Node and for pages have in common. The msw is that of the user's tests.

/** What a server of msw 3 calls of a handler. In a workspace, it may get handlers of the root's msw 2, which lack some of these members. */
const handlerMembers = { kind: "request", reset() {}, restore() {}, dispose() {} };

/** Where the API is for the client under test. */
interface ApiAddress {
  /** The URLs that are requests of the API. A regular expression, because msw fails to compare a text with a URL whose encoding is not valid. */
  readonly urls: RegExp;
  /** The path of the base URL, without a slash at its end: it is no part of the API's paths. */
  readonly base: string;
}

/** In any letter case, to respond 404 to a misspelled path; behind any path, such as that of a proxy. */
const anyHost: ApiAddress = { urls: /\/v1\/relying-party(?:\/|$)/i, base: "" };

/** The API's address for the client under test. */
export interface HandlerOptions {
  /**
   * The API's base URL, such as `https://api.example`; the handlers respond to every path under it.
   *
   * Default: `*`, any host, but only paths with `/v1/relying-party`.
   */
  readonly baseUrl?: string | URL;
}

/**
 * Creates request handlers for `setupServer`, `setupWorker` and other APIs of msw 2 or 3.
 *
 * They respond from the sandbox's current state: the clock, operations and resets take effect immediately. Throws `usage`
 * for no sandbox or an invalid base URL, `validation_failed` for an unknown option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states" });
 * const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
 */
export function createHandlers(sandbox: Sandbox, options: HandlerOptions = {}): HttpHandler[] {
  if (msw.http === undefined) {
    const message = "svc-sandbox/msw needs msw 2.0 or later: run `npm install --save-dev msw`.";
    throw new SandboxError("package_unusable", message, { package: "msw", since: "2.0" });
  }
  requireSandbox(sandbox);
  requireKnownOptions("make handlers", options, ["baseUrl"]);
  return [makeHandler(sandbox, readAddress(options.baseUrl))];
}

/** Reads the option of a base URL. Throws `usage`. */
function readAddress(option: string | URL | undefined): ApiAddress {
  if (option === undefined || option === "*") return anyHost;
  let baseUrl: string;
  if (typeof option === "string") baseUrl = option;
  // A URL of another realm, as in jsdom, is not an instance of this one's.
  else if (Object.prototype.toString.call(option) === "[object URL]") baseUrl = option.href;
  else throw invalidBaseUrl(option, "It is not a text or a URL");

  // A pattern as paths of msw have them: `*`, or a name such as in `/:tenant/api`. A port is none.
  const hasPattern = /\*|\/:/.test(baseUrl.replace(scheme, ""));
  if (hasPattern) throw invalidBaseUrl(baseUrl, "It has no patterns");
  const checkedUrl = readBaseUrl(absoluteUrl(baseUrl));
  if (checkedUrl === undefined) {
    throw invalidBaseUrl(baseUrl, "It is a URL of http or https without a user, a query and a fragment");
  }

  const { origin, pathname } = new URL(checkedUrl);
  const base = pathname === "/" ? "" : pathname;
  const escaped = (origin + base).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  // A path has cases, and `URL` writes schemes and hosts in lower case.
  return { urls: new RegExp(`^${escaped}(?:/|$)`), base };
}

/** The scheme of an absolute base URL, with the slashes behind it. */
const scheme = /^https?:\/\//i;

/** A base URL in full: a relative one is an address on the page. Throws `usage` for a text that is no URL. */
function absoluteUrl(baseUrl: string): string {
  if (scheme.test(baseUrl)) {
    if (!URL.canParse(baseUrl)) throw invalidBaseUrl(baseUrl, "It is not a URL");
    return baseUrl;
  }

  const { location } = globalThis as { readonly location?: { readonly href: string } }; // Node has no page
  // Without a page, no request would match a relative one, and all would go to the network, with their keys.
  if (location === undefined) throw invalidBaseUrl(baseUrl, "Only pages and jsdom have relative ones");

  // With a slash, as in front of the paths of requests: an empty base URL is the root of the page's host.
  const withSlash = baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`;
  if (!URL.canParse(withSlash, location.href)) throw invalidBaseUrl(baseUrl, "It is not a URL");
  return new URL(withSlash, location.href).href;
}

/** The error of a base URL that cannot be used. */
function invalidBaseUrl(baseUrl: unknown, why: string): SandboxError {
  // In front of an @, a URL may have a password, and in a query or a fragment a key.
  const mayHaveSecret = typeof baseUrl === "string" && /[@?#]/.test(baseUrl);
  const quotedBaseUrl = mayHaveSecret ? "" : `: ${quote(baseUrl)}`;
  const use = "Use the whole address, such as https://api.example, or leave it out for any host";
  return new SandboxError("usage", `Invalid base URL${quotedBaseUrl}. ${why}. ${use}.`);
}

/** A handler that responds to all methods at an address. Its first request may start the sandbox. */
function makeHandler(sandbox: Sandbox, { urls, base }: ApiAddress): HttpHandler {
  const handler = msw.http.all(urls, async ({ request }) => {
    try {
      return await respondToWebRequest(() => stateOf(sandbox), request, clientOfMsw(request), base);
    } catch (error) {
      // The client of an aborted request already has its error; msw would treat this error as a failed handler.
      if (request.signal.aborted) return Response.error();
      throw error;
    }
  });
  for (const [name, member] of Object.entries(handlerMembers)) {
    if (!(name in handler)) Object.assign(handler, { [name]: member });
  }
  return handler;
}
