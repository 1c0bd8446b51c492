import type { ExpectStatic, TestAPI } from "vitest";
import type { WithKnownFields } from "../library/sandbox.js";
import { usersPackage } from "../library/users-package.js";
import { olderVersion } from "../node/package-files.js";
import {
  type FixtureOptions,
  type FixtureSource,
  type FixturesOf,
  type SandboxFixtures,
  type SharedFixtures,
  serveWhile,
  useSandbox,
} from "./fixtures.js";

export type { FixtureOptions, SandboxFixtures, SharedFixtures } from "./fixtures.js";

const wanted = { entry: "svc-sandbox/vitest", name: "vitest", since: "3.2" };
const vitest = await usersPackage(
  wanted,
  () => import("vitest"),
  () => olderVersion(wanted),
);

/** The fixtures that a file's tests share. */
export interface FileFixtures extends SharedFixtures {
  readonly sandboxOptions: FixtureOptions;
}

/** Vitest's `test` with the fixtures of a scenario. */
type VitestSandboxTest<Fixtures = SandboxFixtures> = TestAPI<Fixtures & FileFixtures>;

/**
 * Creates a `test` whose sandbox has these options. The compiler checks the refs of their scenario.
 *
 * Without a scenario, the configuration's scenario applies, and a ref is any text.
 */
function vitestSandboxTest<const Source extends FixtureSource>(
  options: Omit<FixtureOptions, "scenario"> & {
    readonly scenario: Source & WithKnownFields<Source, FixtureSource>;
  },
): VitestSandboxTest<FixturesOf<Source>>;
function vitestSandboxTest(options?: FixtureOptions<never>): VitestSandboxTest;
function vitestSandboxTest(options?: FixtureOptions): VitestSandboxTest {
  return vitest.test.extend<{ $test: SandboxFixtures; $file: FileFixtures }>({
    sandboxOptions: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
      ({}, use) => use(options ?? {}),
      { scope: "file", injected: options === undefined },
    ],
    sharedSandbox: [({ sandboxOptions }, use) => useSandbox(sandboxOptions, use), { scope: "file" }],
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
}

/**
 * Vitest's `test` with a sandbox and its server for each file; `sandbox` is reset before each test.
 *
 * The compiler checks the refs of `key-states`; use `sandboxTest` for any other scenario. Set options with `test.override({
 * sandboxOptions })` at the top of a file, or with `provide: { sandboxOptions }` for a project.
 *
 * @example
 * test("a revoked key", async ({ server, secret }) => {
 *   const headers = { "x-api-key": secret("revoked") };
 *   expect((await fetch(`${server.url}/v1/relying-party/me`, { headers })).status).toBe(401);
 * });
 */
const vitestTest = vitestSandboxTest() as unknown as VitestSandboxTest<FixturesOf<"key-states">>;

/** Vitest's `expect`. */
const vitestExpect: ExpectStatic = vitest.expect;

export {
  type VitestSandboxTest as SandboxTest,
  vitestExpect as expect,
  vitestSandboxTest as sandboxTest,
  vitestTest as test,
};
