import type { HttpHandler } from "msw";
import { createSandbox } from "../index.js";
import type { Sandbox } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { type HandlerOptions, handlersOf, olderMsw, wantedMsw } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` in Node. `msw-bundled.ts` is that for bundlers, and `msw-in-pages.ts` that in pages: they have msw in
// their bundle.

const msw = await usersPackage(wantedMsw, () => import("msw"), olderMsw);

export type { HandlerOptions } from "./msw-handlers.js";

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
  return handlersOf(msw, sandbox, options);
}

/** A sandbox of `key-states`, ready to use with {@link handlers}. Its first use starts it. */
export const sandbox = /* @__PURE__ */ createSandbox({ scenario: "key-states" });

/** The handlers of the ready {@link sandbox}, for any host. */
export const handlers = /* @__PURE__ */ createHandlers(sandbox);
