import { createSandbox } from "../browser.js";
import { readyPair } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` in pages; `msw.ts` is that in Node.

export { createHandlers, type HandlerOptions } from "./msw-handlers.js";

const ready = /* @__PURE__ */ readyPair(createSandbox);

/** A sandbox of `key-states`, ready to use with {@link handlers}. Its first use starts it. */
export const sandbox = ready.sandbox;

/** The handlers of the ready {@link sandbox}, for any host. */
export const handlers = ready.handlers;
