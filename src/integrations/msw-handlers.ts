import type { HttpHandler } from "msw";
import { type CreateSandbox, requireSandbox, sandboxApi, stateOf } from "../library/create-sandbox.js";
import type { OrganizationRef, Sandbox, ScenarioKeyRef } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { discardBody, respondToWebRequest } from "../library/web-request.js";
import { readBaseUrl } from "../rules/base-url.js";
import { SandboxError } from "../rules/errors.js";
import { requireKnownOptions } from "../rules/validation.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { quote } from "../schema/words.js";

// The handlers must be those of the msw that the user's tests import.
const { http } = await usersPackage(
  { entry: "svc-sandbox/msw", name: "msw", since: "2.0" },
  () => import("msw"),
  (msw) => ("http" in msw ? undefined : "an older one"),
);

/** The members of a handler that a server of msw 3 calls. In a workspace, it may get handlers of the root's msw 2, which lack some. */
const handlerMembers = { kind: "request", reset() {}, restore() {}, dispose() {} };

type Resolver = (call: { request: Request }) => Promise<Response>;

/**
 * The URLs of the API on any host. A pattern, because msw fails at a path whose encoding is not valid; in any letter case, to
 * respond 404 to a misspelled path.
 */
const anyHost = /\/v1\/relying-party(?:\/|$)/i;

/** The API's address for the client under test. */
export interface HandlerOptions {
  /**
   * The API's base URL, such as `https://api.example`; the handlers respond to every path under it.
   *
   * Default: `*`, any host, but only paths under `/v1/relying-party`.
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
  requireSandbox(sandbox);
  requireKnownOptions("make handlers", options, ["baseUrl"]);
  const baseUrl = urlText(options.baseUrl);
  const state = () => stateOf(sandbox);
  if (baseUrl === "*") return [makeHandler(anyHost, makeResolver(state, ""))];

  const isAbsolute = /^https?:\/\//i.test(baseUrl);
  // msw would read `:name` and `*` in it as patterns.
  const hasParameter = isAbsolute && /\/:/.test(baseUrl.slice("https://".length));
  if (hasParameter || baseUrl.includes("*")) throw invalidBaseUrl(baseUrl, "It has no patterns");
  // Without a page, no request would match a relative one, and all would go to the network, with their keys.
  if (!isAbsolute && !("location" in globalThis)) {
    throw invalidBaseUrl(baseUrl, "Only pages and jsdom have relative ones");
  }

  if (isAbsolute && !URL.canParse(baseUrl)) throw invalidBaseUrl(baseUrl, "It is not a URL");
  const whole = readBaseUrl(isAbsolute ? baseUrl : new URL(baseUrl, "http://page.example").href);
  if (whole === undefined) {
    // It may have a password.
    throw invalidBaseUrl(undefined, "It is a URL of http or https without a user, a query and a fragment");
  }
  return isAbsolute ? absoluteHandlers(state, whole) : relativeHandlers(state, baseUrl);
}

/** The text of a base URL. Default: any host. A URL of another realm, as in jsdom, is not an instance of this one's. */
function urlText(url: string | URL = "*"): string {
  if (typeof url === "string") return url;
  if (Object.prototype.toString.call(url) === "[object URL]") return url.href;
  throw invalidBaseUrl(url, "It is not a text or a URL");
}

/** The handlers of a base URL with a host: all paths under it. */
function absoluteHandlers(sandbox: () => SandboxState, baseUrl: string): HttpHandler[] {
  const { origin, pathname } = new URL(baseUrl);
  // A base URL may have a path, which the API does not expect.
  const base = withoutSlash(pathname);
  // A pattern, like that of any host.
  const escaped = (origin + base).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const underBase = new RegExp(`^${escaped}(?:/|$)`, "i");
  return [makeHandler(underBase, makeResolver(sandbox, base))];
}

/** The handlers of a base URL on the page's own host, and of all paths under it. */
function relativeHandlers(sandbox: () => SandboxState, baseUrl: string): HttpHandler[] {
  const base = withoutSlash(baseUrl);
  const resolver = makeResolver(sandbox, base);
  return [makeHandler(base, resolver), makeHandler(`${base}/*`, resolver)];
}

/** The error of a base URL that cannot be used; `undefined` hides it. */
function invalidBaseUrl(baseUrl: unknown, why: string): SandboxError {
  const quotedBaseUrl = baseUrl === undefined ? "" : `: ${quote(baseUrl)}`;
  const use = "Use the whole address, such as https://api.example, or leave it out for any host";
  return new SandboxError("usage", `Invalid base URL${quotedBaseUrl}. ${why}. ${use}.`);
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/** A handler for all methods of the paths. */
function makeHandler(path: string | RegExp, resolver: Resolver): HttpHandler {
  const handler = http.all(path, resolver);
  for (const [name, member] of Object.entries(handlerMembers)) {
    if (!(name in handler)) Object.assign(handler, { [name]: member });
  }
  return handler;
}

/** Responds to the requests of a handler. `base`: the path of the base URL. */
function makeResolver(sandbox: () => SandboxState, base: string): Resolver {
  return async ({ request }) => {
    discardBody(request);
    try {
      return await respondToWebRequest(sandbox, request, base);
    } catch (error) {
      // The client of an aborted request already has its error; msw would treat this error as a failed handler.
      if (request.signal.aborted) return Response.error();
      throw error;
    }
  };
}

/** A sandbox of `key-states` that its first use starts, with its handlers for any host. */
interface ReadyPair {
  readonly sandbox: Sandbox<ScenarioKeyRef<"key-states">, OrganizationRef<"key-states">>;
  readonly handlers: HttpHandler[];
}

/** Makes the ready pair of an entry point. */
export function readyPair(createSandbox: CreateSandbox): ReadyPair {
  let started: SandboxState | undefined;
  const state = () => {
    started ??= stateOf(createSandbox({ scenario: "key-states" }));
    return started;
  };
  const sandbox = sandboxApi(state) as ReadyPair["sandbox"]; // only types have the refs
  return { sandbox, handlers: [makeHandler(anyHost, makeResolver(state, ""))] };
}
