import { createSandbox, type SandboxOptions } from "../library/create-sandbox.js";
import { runtimeOf } from "../library/current-sandbox.js";
import type { Sandbox, ScenarioSource } from "../library/sandbox.js";
import { loadScenario } from "../node/files/load-scenario.js";
import { serveRuntime } from "../serve/serve.js";
import type { RunningServer } from "../server/serve-log.js";

/** The options of the sandbox of a test runner's fixtures. */
export interface FixtureOptions extends Omit<SandboxOptions, "scenario"> {
  /** A bundled name, a scenario file, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: ScenarioSource | (string & {});
  /** Whether the clock stands still until it is moved. Default: true. */
  readonly frozen?: boolean;
}

/** The fixtures that a test gets. */
export interface SandboxFixtures {
  /** The sandbox, as it was at its start: reset before each test. */
  readonly sandbox: Sandbox;
  /** Returns the full key of a ref of the scenario; throws `unknown_ref`, with the refs there are. */
  readonly secret: (ref: string) => string;
}

/** The fixtures that tests share, each made when it is first used. */
export interface SharedFixtures {
  readonly sandboxOptions: FixtureOptions;
  /** The sandbox that `sandbox` resets, for hooks that run once. */
  readonly sharedSandbox: Sandbox;
  /** A server of the sandbox, on a free port. */
  readonly server: Omit<RunningServer, "close">;
}

type Use<Value> = (value: Value) => Promise<void>;

/** Makes the sandbox of fixtures. Throws what `createSandbox` and `loadScenario` throw. */
export async function makeSandbox({ scenario = "key-states", ...options }: FixtureOptions): Promise<Sandbox> {
  const source = typeof scenario === "string" ? (await loadScenario(scenario)).scenario : scenario;
  return createSandbox({ frozen: true, ...options, scenario: source });
}

/** Serves the sandbox while it is used. */
export async function serveWhile(sandbox: Sandbox, use: Use<SharedFixtures["server"]>): Promise<void> {
  const { close, ...server } = await serveRuntime(runtimeOf(sandbox), { port: 0 });
  await use(server);
  await close(0);
}
