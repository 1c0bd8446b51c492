import { SandboxError } from "../rules/errors.js";

// The entry point `svc-sandbox/vitest` in pages, such as those of Vitest's browser mode: it has the names of `vitest.ts`, so that
// an import of them ends with this error in place of the bundler's.

export const test = notInPages();
export const sandboxTest = notInPages();
export const expect = notInPages();

function notInPages(): never {
  throw new SandboxError(
    "usage",
    "svc-sandbox/vitest serves the sandbox from Node, and this test runs in a browser: use createSandbox of svc-sandbox and createHandlers of svc-sandbox/msw there.",
  );
}
