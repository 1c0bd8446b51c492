import { createSandbox, runtimeOf, type SandboxOptions } from "../library/create-sandbox.js";
import type { KeyRef, OrganizationRef, Sandbox, ScenarioSource } from "../library/sandbox.js";
import { loadScenario } from "../node/files/load-scenario.js";
import { isScenarioName } from "../scenario/bundled.js";
import { type RunningServer, serveRuntime } from "../server/serve.js";
import { serveJoined, useJoined } from "./joined-sandbox.js";

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
  /** A server of the sandbox, on a free port, or the instance of `svc-sandbox exec`. */
  readonly server: Omit<RunningServer, "close">;
}

type Use<Value> = (value: Value) => Promise<void>;

/** Under `svc-sandbox exec` an instance there, which counts the requests. */
export async function useSandbox(options: FixtureOptions, use: Use<Sandbox>): Promise<void> {
  const { SVC_CONTROL_URL: controlUrl } = process.env;
  const { scenario = controlUrl === undefined ? "key-states" : undefined, frozen = true } = options;
  const isLoaded = typeof scenario === "string" && (controlUrl === undefined || !isScenarioName(scenario));
  const source = isLoaded ? (await loadScenario(scenario)).scenario : scenario;
  const given = { ...options, frozen, scenario: source } as SandboxOptions;
  if (controlUrl !== undefined) return useJoined(controlUrl, given, use);
  await use(createSandbox(given));
}

/** Serves the sandbox while it is used; a sandbox in another process is served there. */
export async function serveWhile(sandbox: Sandbox, use: Use<SharedFixtures["server"]>): Promise<void> {
  if (await serveJoined(sandbox, use)) return;
  const { close, ...server } = await serveRuntime(runtimeOf(sandbox), { port: 0 });
  await use(server);
  await close(0);
}
