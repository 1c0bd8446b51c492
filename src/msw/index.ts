import { createSandbox } from "../library/create-sandbox.js";
import { createHandlers } from "./create-handlers.js";

export { createHandlers, type HandlerOptions } from "./create-handlers.js";

/** A sandbox of `key-states`, ready to use with {@link handlers}. */
export const sandbox = createSandbox({ scenario: "key-states" });

/** The handlers of the ready {@link sandbox}, for any host. */
export const handlers = createHandlers(sandbox);
