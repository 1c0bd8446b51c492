import { createSandbox } from "../browser.js";
import { createHandlers } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` in pages. `msw.ts` has the comments.

export { createHandlers } from "./msw-handlers.js";

export const sandbox = /* @__PURE__ */ createSandbox({ scenario: "key-states" });
export const handlers = /* @__PURE__ */ createHandlers(sandbox);
