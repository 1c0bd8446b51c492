import { createSandbox, type SandboxOptions, stateOf } from "../library/create-sandbox.js";
import { currentRun } from "../library/run-folder.js";
import type { KeyRef, OrganizationRef, Sandbox, ScenarioSource } from "../library/sandbox.js";
import { loadScenario } from "../node/files/load-scenario.js";
import { loadReader } from "../node/platform.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { type RunningServer, serve } from "../server/serve.js";

/** A scenario file: a misspelled bundled name is not one. */
type ScenarioFile = `${string}.${string}` | `${string}/${string}`;

/** A bundled name, a scenario file, or a scenario as a value. */
export type FixtureSource = ScenarioSource | ScenarioFile;

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
export type FixturesOf<Source> = SandboxFixtures<KeyRef<Source>, OrganizationRef<Source>>;

export interface SharedFixtures {
  /** The sandbox that `sandbox` resets, for hooks that run once. */
  readonly sharedSandbox: Sandbox;
  /** A server of the sandbox, on a free port. */
  readonly server: Omit<RunningServer, "close">;
}

type Use<Value> = (value: Value) => Promise<void>;

export async function useSandbox(options: FixtureOptions, use: Use<Sandbox>): Promise<void> {
  const { scenario, frozen = true, openapi } = options;
  const isFile = typeof scenario === "string" && !isScenarioName(scenario);
  const source = isFile ? (await loadScenario(scenario)).scenario : (scenario as ScenarioSource | undefined);
  const started = typeof source === "string" ? bundledScenarios[source] : source;
  const hasDocument = (started ?? currentRun()?.scenario?.scenario)?.openapi !== undefined;
  const read = hasDocument && openapi === undefined && { openapi: { read: await loadReader() } };
  await use(createSandbox({ ...options, frozen, ...read, scenario: source } as SandboxOptions));
}

/** Serves the sandbox while it is used. */
export async function serveWhile(sandbox: Sandbox, use: Use<SharedFixtures["server"]>): Promise<void> {
  const { close, ...server } = await serve(stateOf(sandbox), { port: 0 });
  await use(server);
  await close(0);
}
