import { createSandbox } from "../browser.js";
import { createHandlers } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` in pages; `msw.ts` is that in Node.

export type { HandlerOptions } from "./msw-handlers.js";
export { createHandlers };

/** A sandbox of `key-states`, ready to use with {@link handlers}. Its first use starts it. */
export const sandbox = /* @__PURE__ */ createSandbox({ scenario: "key-states" });

/** The handlers of the ready {@link sandbox}, for any host. */
export const handlers = /* @__PURE__ */ createHandlers(sandbox);
