import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  expect as playwrightExpect,
  TestType,
} from "@playwright/test";
import type { Sandbox } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { olderVersion } from "../node/older-version.js";
import { mergeReports, type Report } from "../report/report.js";
import { renderReport } from "../report/report-document.js";
import { makeSandbox, type SandboxFixtures, type SharedFixtures, serveWhile } from "./fixtures.js";

export type { FixtureOptions, SandboxFixtures, SharedFixtures } from "./fixtures.js";

const wanted = { entry: "svc-sandbox/playwright", name: "@playwright/test", since: "1.18" };
const playwright = await usersPackage(
  wanted,
  () => import("@playwright/test"),
  () => olderVersion(wanted),
);

/** What all tests of a worker have met, by the sandbox that they share. */
const totals = new WeakMap<Sandbox, Report>();

function addToTotal(sandbox: Sandbox, report: Report): void {
  const before = totals.get(sandbox);
  // All tests are one run.
  const { runs: _runs, ...total } = before === undefined ? report : mergeReports([before, report]);
  totals.set(sandbox, total);
}

/**
 * Playwright's `test` with a sandbox and a server of it, both of the worker; `sandbox` is reset before each test, and
 * `baseURL` is the server's unless the configuration says another.
 *
 * `use: { sandboxOptions }` sets options, in the configuration or by `test.use` at the top of a file. The report of what
 * a test met is attached to it; the one of the worker is a file in the output folder.
 *
 * @example
 * test("a revoked key", async ({ request, secret }) => {
 *   const headers = { "x-api-key": secret("revoked") };
 *   expect((await request.get("/v1/relying-party/me", { headers })).status()).toBe(401);
 * });
 */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & SandboxFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & SharedFixtures
> = playwright.test.extend<SandboxFixtures, SharedFixtures>({
  sandboxOptions: [{}, { scope: "worker", option: true }],
  sharedSandbox: [
    async ({ sandboxOptions }, use, { project, workerIndex }) => {
      const sandbox = await makeSandbox(sandboxOptions);
      await use(sandbox);
      const total = totals.get(sandbox);
      if (total === undefined) return;
      await mkdir(project.outputDir, { recursive: true });
      const file = join(project.outputDir, `svc-sandbox-worker-${workerIndex}.md`);
      await writeFile(file, renderReport(total, "markdown"));
    },
    { scope: "worker" },
  ],
  server: [({ sharedSandbox }, use) => serveWhile(sharedSandbox, use), { scope: "worker" }],
  sandbox: [
    async ({ sharedSandbox }, use, testInfo) => {
      sharedSandbox.reset();
      sharedSandbox.requests.clear();
      await use(sharedSandbox);
      if (sharedSandbox.requests.total() === 0) return;
      const report = sharedSandbox.report();
      addToTotal(sharedSandbox, report);
      const requests = sharedSandbox.requests
        .list()
        .map(({ method, path, key, pathId }) => `- ${method} ${path}, ${key ?? "no key"}: ${pathId}`);
      // First what a failed test asks for: Playwright prints the beginning.
      const body = [...requests, "", renderReport(report, "markdown")].join("\n");
      await testInfo.attach("svc-sandbox", { body, contentType: "text/markdown" });
    },
    { auto: true },
  ],
  secret: ({ sandbox }, use) => use(sandbox.secret),
  baseURL: ({ baseURL, server }, use) => use(baseURL ?? server.url),
});

/** Playwright's own. */
export const expect: typeof playwrightExpect = playwright.expect;
