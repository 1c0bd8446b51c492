import type {
  BrowserContext,
  expect as expectOfPlaywright,
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestType,
} from "@playwright/test";
import type { WithKnownFields } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { olderVersion } from "../node/package-files.js";
import { renderReport } from "../report/report-document.js";
import {
  type FixtureOptions,
  type FixtureSource,
  type FixturesOf,
  type SandboxFixtures,
  type SharedFixtures,
  serveWhile,
  useSandbox,
} from "./fixtures.js";

export type { SandboxFixtures, SharedFixtures } from "./fixtures.js";

/** The options of a worker's sandbox. */
export interface PlaywrightFixtureOptions<Source = FixtureSource> extends FixtureOptions<Source> {
  /**
   * The requests of pages that the sandbox responds to: the API's base URL and `/**`, as in `https://api.example/**`.
   * Needs Playwright 1.29 or later. Default: none.
   */
  readonly intercept?: `${string}/**`;
}

// The configuration uses the option without a type argument.
declare module "@playwright/test" {
  interface PlaywrightWorkerOptions {
    sandboxOptions: PlaywrightFixtureOptions;
  }
}

const wanted = { entry: "svc-sandbox/playwright", name: "@playwright/test", since: "1.18" };
const playwright = await usersPackage(
  wanted,
  () => import("@playwright/test"),
  () => olderVersion(wanted),
);

async function interceptIn(context: BrowserContext, pattern: string, url: string): Promise<void> {
  const base = pattern.slice(0, -"/**".length);
  await context.route(pattern, async (route) => {
    const path = route.request().url().slice(base.length);
    try {
      await route.fulfill({ response: await route.fetch({ url: url + path, timeout: 0 }) });
    } catch {
      // A fault cut the connection, or the test is over.
      await route.abort("connectionreset").catch(() => {});
    }
  });
}

/** Playwright's `test` with the fixtures of a scenario. */
type PlaywrightSandboxTest<Fixtures = SandboxFixtures> = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & Fixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & SharedFixtures
>;

const ofConfiguration: PlaywrightSandboxTest = playwright.test.extend<SandboxFixtures, SharedFixtures>({
  // Playwright's types treat it as a Playwright option.
  sandboxOptions: [{}, { scope: "worker", option: true }] as never,
  sharedSandbox: [
    ({ sandboxOptions: { intercept: _, ...options } }, use) => useSandbox(options, use),
    { scope: "worker" },
  ],
  server: [({ sharedSandbox }, use) => serveWhile(sharedSandbox, use), { scope: "worker" }],
  sandbox: [
    async ({ sharedSandbox }, use, testInfo) => {
      sharedSandbox.reset();
      sharedSandbox.requests.clear();
      await use(sharedSandbox);
      if (sharedSandbox.requests.total() === 0) return;
      const requests = sharedSandbox.requests
        .list()
        .map(({ method, path, key, pathId }) => `- ${method} ${path}, ${key ?? "none"}: ${pathId}`);
      // The requests of a failed test come first: Playwright prints the beginning.
      const body = [...requests, "", renderReport(sharedSandbox.report(), "markdown")].join("\n");
      await testInfo.attach("svc-sandbox", { body, contentType: "text/markdown" });
    },
    { auto: true },
  ],
  secret: ({ sandbox }, use) => use(sandbox.secret),
  context: async ({ context, server, sandboxOptions: { intercept } }, use) => {
    if (intercept !== undefined) await interceptIn(context, intercept, server.url);
    await use(context);
  },
  baseURL: ({ baseURL, server }, use) => use(baseURL ?? server.url),
});

/**
 * Creates a `test` whose sandbox has these options. The compiler checks the refs of their scenario.
 *
 * Without a scenario, the configuration's scenario applies, and a ref is any text.
 */
function playwrightSandboxTest<const Source extends FixtureSource>(
  options: Omit<PlaywrightFixtureOptions, "scenario"> & {
    readonly scenario: Source & WithKnownFields<Source, FixtureSource>;
  },
): PlaywrightSandboxTest<FixturesOf<Source>>;
function playwrightSandboxTest(options?: PlaywrightFixtureOptions<never>): PlaywrightSandboxTest;
function playwrightSandboxTest(options?: PlaywrightFixtureOptions): PlaywrightSandboxTest {
  if (options === undefined) return ofConfiguration;
  return ofConfiguration.extend({ sandboxOptions: [options, { scope: "worker", option: true }] as never });
}

/**
 * Playwright's `test` with a sandbox and its server for each worker. `sandbox` is reset before each test, and `baseURL` is
 * the server's, unless the configuration sets another.
 *
 * The compiler checks the refs of `key-states`; use `sandboxTest` for any other scenario. Set options with `use: {
 * sandboxOptions }` in the configuration, or with `test.use` at the top of a file. Each test has its report as an
 * attachment.
 *
 * @example
 * test("a revoked key", async ({ request, secret }) => {
 *   const headers = { "x-api-key": secret("revoked") };
 *   expect((await request.get("/v1/relying-party/me", { headers })).status()).toBe(401);
 * });
 */
const playwrightTest = playwrightSandboxTest() as unknown as PlaywrightSandboxTest<FixturesOf<"key-states">>;

/** Playwright's `expect`. */
const playwrightExpect: typeof expectOfPlaywright = playwright.expect;

export {
  type PlaywrightSandboxTest as SandboxTest,
  playwrightExpect as expect,
  playwrightSandboxTest as sandboxTest,
  playwrightTest as test,
};
