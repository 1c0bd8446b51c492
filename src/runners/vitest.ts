import type { ExpectStatic, TestAPI } from "vitest";
import { usersPackage } from "../library/users-package.js";
import { olderVersion } from "../node/older-version.js";
import { makeSandbox, type SandboxFixtures, type SharedFixtures, serveWhile } from "./fixtures.js";

export type { FixtureOptions, SandboxFixtures, SharedFixtures } from "./fixtures.js";

const wanted = { entry: "svc-sandbox/vitest", name: "vitest", since: "3.2" };
const vitest = await usersPackage(
  wanted,
  () => import("vitest"),
  () => olderVersion(wanted),
);

/**
 * Vitest's `test` with a sandbox and a server of it, both of the file; `sandbox` is reset before each test.
 *
 * `test.override({ sandboxOptions })` at the top of a file sets options, `provide: { sandboxOptions }` those of a project.
 *
 * @example
 * test("a revoked key", async ({ server, secret }) => {
 *   const headers = { "x-api-key": secret("revoked") };
 *   expect((await fetch(`${server.url}/v1/relying-party/me`, { headers })).status).toBe(401);
 * });
 */
export const test: TestAPI<SandboxFixtures & SharedFixtures> = vitest.test.extend<{
  $test: SandboxFixtures;
  $file: SharedFixtures;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  sandboxOptions: [({}, use) => use({}), { scope: "file", injected: true }],
  sharedSandbox: [
    async ({ sandboxOptions }, use) => use(await makeSandbox(sandboxOptions)),
    { scope: "file" },
  ],
  server: [({ sharedSandbox }, use) => serveWhile(sharedSandbox, use), { scope: "file" }],
  sandbox: [
    async ({ sharedSandbox }, use) => {
      sharedSandbox.reset();
      await use(sharedSandbox);
    },
    { auto: true },
  ],
  secret: ({ sandbox }, use) => use(sandbox.secret),
});

/** Vitest's own. */
export const expect: ExpectStatic = vitest.expect;
