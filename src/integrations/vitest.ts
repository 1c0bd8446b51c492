import { createRequire } from "node:module";
import type { ExpectStatic, TestAPI } from "vitest";
import { expect as expectOfVitest, test as testOfVitest } from "vitest";
import { createSandbox } from "../index.js";
import type { SandboxOptions } from "../library/create-sandbox.js";
import type { OrganizationRef, ScenarioKeyRef, ScenarioSource } from "../library/known-refs.js";
import type { Sandbox } from "../library/sandbox.js";
import { stateOf } from "../library/sandbox-api.js";
import { SandboxError } from "../rules/errors.js";
import { isScenarioName } from "../scenario/bundled.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { quote, quoteFile } from "../schema/words.js";
import { type RunningServer, serve } from "../server/serve.js";
import { loadScenario } from "../server/start-server.js";

/** Older versions of Vitest know no scopes of fixtures. The one that runs the user's tests is imported here. */
const oldestVitest = "3.2";
const vitestVersion = installedVersion() ?? oldestVitest;
if (vitestVersion.localeCompare(oldestVitest, "en", { numeric: true }) < 0) {
  const message = `svc-sandbox/vitest needs vitest ${oldestVitest} or later, and ${vitestVersion} is installed: run \`npm install --save-dev vitest\`.`;
  throw new SandboxError("package_unusable", message, { package: "vitest", since: oldestVitest });
}

/** The version of the installed Vitest; `undefined` in a bundle, which contains it. */
function installedVersion(): string | undefined {
  try {
    return createRequire(import.meta.url)("vitest/package.json").version;
  } catch {
    return undefined;
  }
}

/** A bundled name, a scenario as a value, or a scenario file, which has a dot or a slash: a misspelled bundled name is none. */
type FixtureSource = ScenarioSource | `${string}.${string}` | `${string}/${string}`;

/** The options of the sandbox of a test runner's fixtures. */
export interface FixtureOptions<Source = FixtureSource> extends Omit<SandboxOptions, "scenario"> {
  /** Default: the scenario of `svc-sandbox exec`, or `key-states`. */
  readonly scenario?: Source;
  /** Whether the clock is frozen. Default: true. */
  readonly frozen?: boolean;
}

/** The fixtures of a test. */
export interface SandboxFixtures<Key extends string = string, Organization extends string = string> {
  /** The sandbox in its initial state: reset before each test. */
  readonly sandbox: Sandbox<Key, Organization>;
  /** Returns the full key of a ref, as `sandbox.secret` does; throws `unknown_ref`, with the known refs. */
  readonly secret: Sandbox<Key, Organization>["secret"];
}

/** The fixtures of a scenario, with its refs if the type contains them. */
type FixturesOf<Source> = SandboxFixtures<ScenarioKeyRef<Source>, OrganizationRef<Source>>;

export interface SharedFixtures {
  /** The sandbox that `sandbox` resets, for hooks that run once. */
  readonly sharedSandbox: Sandbox;
  /** A server of the sandbox, on a free port. */
  readonly server: Omit<RunningServer, "close">;
}

/** Loads a scenario file from the folder of the project; anything else is for `createSandbox`. Throws an error that names the folder. */
async function loadIfFile(
  source: FixtureSource | undefined,
): Promise<ScenarioSource | LoadedScenario | undefined> {
  const isFile = typeof source === "string" && !isScenarioName(source);
  if (!isFile) return source as ScenarioSource | undefined;

  const cwd = projectFolder();
  try {
    return await loadScenario(source, { cwd });
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "scenario_not_found") throw error;
    const message = `${error.message} The folder of this project is ${quoteFile(cwd)}.`;
    throw new SandboxError(error.code, message, { ...error.details, folder: cwd });
  }
}

/** The folder of the project that runs, which has its configuration: the process runs in that of the workspace. */
function projectFolder(): string {
  // Vitest has no public function for it.
  const worker: { readonly config?: { readonly root?: string } } | undefined = Reflect.get(
    globalThis,
    "__vitest_worker__",
  );
  return worker?.config?.root ?? process.cwd();
}

/** The full key of a ref. An error names the scenario that runs: a file of another folder may have been meant. */
function secretOrExplain(sandbox: Sandbox, ref: string): string {
  try {
    return sandbox.secret(ref);
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
    const message = `${error.message} The scenario is ${quoteFile(sandbox.name)}, and the folder of this project ${quoteFile(projectFolder())}.`;
    throw new SandboxError(error.code, message, error.details);
  }
}

/** The fixtures that a file's tests share. */
interface FileFixtures extends SharedFixtures {
  /** The options of the sandbox, which a project or a file may override. */
  readonly sandboxOptions: FixtureOptions;
}

/** Vitest's `test` with the fixtures of a scenario. Default: those of `key-states`. */
type VitestSandboxTest<Fixtures = FixturesOf<"key-states">> = TestAPI<Fixtures & FileFixtures>;

/**
 * Creates a `test` whose sandbox has these options. The compiler checks the refs of their scenario.
 *
 * Without a scenario, the configuration's scenario applies, and a ref is any text.
 */
function vitestSandboxTest<const Source extends FixtureSource = FixtureSource>(
  options?: FixtureOptions<Source>,
): VitestSandboxTest<FixturesOf<Source>>;
function vitestSandboxTest(options?: FixtureOptions): VitestSandboxTest<SandboxFixtures> {
  // With `injected`, Vitest takes `provide: { sandboxOptions }` of the project's configuration instead, if it has that.
  const mayBeProvided = options === undefined;

  // Vitest's names for the scopes: each test has fixtures of its own (`$test`), and the tests of a file share some (`$file`).
  return testOfVitest.extend<{
    $test: SandboxFixtures & { readonly freshSandbox: Sandbox };
    $file: FileFixtures;
  }>({
    sandboxOptions: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
      ({}, use) => use(options ?? {}),
      { scope: "file", injected: mayBeProvided },
    ],
    sharedSandbox: [
      async ({ sandboxOptions }, use) => {
        const { frozen = true } = sandboxOptions;
        const scenario = await loadIfFile(sandboxOptions.scenario);
        const completed = { ...sandboxOptions, frozen, scenario } as SandboxOptions; // no signature has a source of an unknown kind
        await use(createSandbox(completed));
      },
      { scope: "file" },
    ],
    server: [
      async ({ sharedSandbox }, use) => {
        const { close, ...server } = await serve(stateOf(sharedSandbox), { port: 0 });
        await use(server);
        await close(0);
      },
      { scope: "file" },
    ],
    freshSandbox: [
      async ({ sharedSandbox, task }, use) => {
        // Concurrent tests would reset the sandbox of each other.
        if (!task.concurrent) sharedSandbox.reset();
        await use(sharedSandbox);
      },
      // Also for a test that names no fixture, or only `server`.
      { auto: true },
    ],
    sandbox: async ({ freshSandbox, task }, use) => {
      if (task.concurrent) {
        const message = `The test ${quote(task.name)} is concurrent, and all tests of a file share the fixture sandbox. Remove concurrent, or create a sandbox in the test with createSandbox.`;
        throw new SandboxError("usage", message);
      }
      await use(freshSandbox);
    },
    secret: ({ sandbox }, use) => use((ref) => secretOrExplain(sandbox, ref)),
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
const vitestTest = vitestSandboxTest() as unknown as VitestSandboxTest; // the default scenario is `key-states`

/** Vitest's `expect`. */
const vitestExpect: ExpectStatic = expectOfVitest;

export {
  // The declarations of a user's `test` that extends this one name these types.
  type RunningServer,
  type Sandbox,
  type ScenarioSource,
  type VitestSandboxTest as SandboxTest,
  vitestExpect as expect,
  vitestSandboxTest as sandboxTest,
  vitestTest as test,
};
