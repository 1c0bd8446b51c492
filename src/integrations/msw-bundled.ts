import * as importedMsw from "msw";
import { createSandbox } from "../index.js";
import type { Sandbox } from "../library/sandbox.js";
import { presentPackage } from "../library/users-package.js";
import { type HandlerOptions, handlersOf, olderMsw, wantedMsw } from "./msw-handlers.js";

// The entry point `svc-sandbox/msw` for bundlers, which make a bundle for Node and cannot wait for msw if that is in CommonJS. `msw.ts` has the comments.

const msw = /* @__PURE__ */ presentPackage(wantedMsw, () => importedMsw, olderMsw);

export function createHandlers(sandbox: Sandbox, options: HandlerOptions = {}) {
  return handlersOf(msw, sandbox, options);
}

export const sandbox = /* @__PURE__ */ createSandbox({ scenario: "key-states" });
export const handlers = /* @__PURE__ */ createHandlers(sandbox);
