import type { HttpHandler } from "msw";
import { SandboxError } from "../domain/errors.js";
import { runtimeOf } from "../library/current-sandbox.js";
import type { Sandbox } from "../library/sandbox.js";
import { answerWebRequest } from "../library/web-request.js";
import { requireKnownOptions } from "../schema/check.js";
import { http } from "./http.js";

/** The address of the API for the client under test. */
export interface HandlerOptions {
  /**
   * The API's base URL, such as `https://api.example`; everything under it is answered.
   *
   * Default: `*`, any host, of which only the paths under `/v1/relying-party` are answered, with announced changes those of other
   * versions as well.
   */
  readonly baseUrl?: string;
}

/**
 * Request handlers for `setupServer`, `setupWorker` and whatever else takes handlers of msw 2 or 3.
 *
 * They answer from the sandbox as it is when a request comes: clock, operations and reset take effect at once. Throws
 * `usage` for a base URL that is none, `validation_failed` for an unknown option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states" });
 * const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
 */
export function createHandlers(sandbox: Sandbox, options: HandlerOptions = {}): HttpHandler[] {
  const runtime = runtimeOf(sandbox);
  requireKnownOptions("make handlers", options, ["baseUrl"]);
  const { baseUrl = "*" } = options;
  const answer =
    (base: string) =>
    ({ request }: { request: Request }) =>
      unlessAborted(answerWebRequest(runtime.world, request, base), request);
  const paths = runtime.world().changes === undefined ? anyHost : anyVersion;
  if (baseUrl === "*") return [http.all(paths, answer(""))];
  if (/^https?:\/\//i.test(baseUrl)) {
    const { origin, pathname } = urlOf(baseUrl);
    // A base URL may have a path of its own, which the API does not know.
    const base = withoutSlash(pathname);
    return [http.all(everythingUnder(origin + base), answer(base))];
  }
  // Relative to where the page or the server is, which msw knows.
  const base = withoutSlash(baseUrl);
  return [http.all(base, answer(base)), http.all(`${base}/*`, answer(base))];
}

// The client of an aborted request has its error already; msw would take this one for a failure of the handler.
function unlessAborted(
  answer: Response | Promise<Response>,
  { signal }: Request,
): Response | Promise<Response> {
  if ("status" in answer) return answer;
  return answer.catch((error) => {
    if (signal.aborted) return Response.error();
    throw error;
  });
}

function urlOf(baseUrl: string): URL {
  try {
    return new URL(baseUrl);
  } catch {
    throw new SandboxError(
      "usage",
      `Failed to make handlers for ${JSON.stringify(baseUrl)}: it is not a URL. Give one such as https://api.example.`,
    );
  }
}

// Patterns rather than paths in msw's notation: msw decodes what such a path matches, and fails on a request whose path
// is not valid encoding. Whatever its case, so that a path in the wrong one gets the API's 404 instead of the network.
const anyHost = /\/v1\/relying-party(?:\/|$)/i;
// Announced changes move paths to other versions.
const anyVersion = /\/v\d{1,3}\/relying-party(?:\/|$)/i;

function everythingUnder(base: string): RegExp {
  return new RegExp(`^${base.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?:/|$)`, "i");
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}
