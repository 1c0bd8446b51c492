import { type HttpHandler, http } from "msw";
import { answerWebRequest } from "../library/answer-web-request.js";
import { hostOf } from "../library/host-of.js";
import type { Sandbox } from "../library/sandbox.js";

/** Where the API is, as far as the client under test knows. */
export interface HandlerOptions {
  /**
   * The API's base URL, such as `https://api.example`; everything under it is answered.
   *
   * Default: `*`, any host, of which only the paths under `/v1/relying-party` are answered.
   */
  readonly baseUrl?: string;
}

/**
 * Request handlers for `setupServer`, `setupWorker` and whatever else takes handlers of msw 2 or 3.
 *
 * They answer from the sandbox as it is when a request comes: clock, lifecycle and reset take effect at once.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states" });
 * const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
 */
export function createHandlers(sandbox: Sandbox, { baseUrl = "*" }: HandlerOptions = {}): HttpHandler[] {
  const host = hostOf(sandbox);
  const answer =
    (base: string) =>
    ({ request }: { request: Request }) =>
      answerWebRequest(host.world(), request, base);
  if (baseUrl === "*") {
    const anyHost = answer("");
    return [http.all("*/v1/relying-party", anyHost), http.all("*/v1/relying-party/*", anyHost)];
  }
  const base = baseUrl.replace(/\/+$/, "");
  // A base URL may have a path of its own, which the API does not know.
  const mounted = answer(pathnameOf(base));
  return [http.all(base, mounted), http.all(`${base}/*`, mounted)];
}

function pathnameOf(base: string): string {
  const path = base.replace(/^(?:https?:)?\/\/[^/]*/i, "");
  return path.startsWith("/") ? path : "";
}
