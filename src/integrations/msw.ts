import { createSandbox } from "../index.js";
import { createHandlers } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` in Node; `msw-in-pages.ts` is that in pages.

export { createHandlers, type HandlerOptions } from "./msw-handlers.js";

/** A sandbox of `key-states`, ready to use with {@link handlers}. Its first use starts it. */
export const sandbox = /* @__PURE__ */ createSandbox({ scenario: "key-states" });

/** The handlers of the ready {@link sandbox}, for any host. */
export const handlers = /* @__PURE__ */ createHandlers(sandbox);
