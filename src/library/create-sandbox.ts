import { endpointsIn, routesOf } from "../api/endpoints.js";
import { requireKnownOptions } from "../rules/validation.js";
import type { SandboxRun } from "../runs/current-run.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";
import type { Platform } from "../sandbox/platform.js";
import { invocationOfServer, type SandboxState, type StartOptions } from "../sandbox/sandbox-state.js";
import { prepareStart, startSandbox } from "../sandbox/start-sandbox.js";
import { resolveSource } from "../scenario/scenario-source.js";
import type { OrganizationRef, SandboxSource, ScenarioKeyRef, ScenarioSource } from "./known-refs.js";
import type { Sandbox } from "./sandbox.js";
import { sandboxApi } from "./sandbox-api.js";
import { realTime, sha256Hex } from "./web-platform.js";

/** Options of `createSandbox`. */
export interface SandboxOptions<Source extends SandboxSource = ScenarioSource> extends StartOptions {
  /** A bundled name, a scenario as a value, or a loaded one. Default: `key-states`. */
  readonly scenario?: Source;
}

export const sandboxOptions = ["scenario", "seed", "now", "frozen", "profile"] as const;

/** `createSandbox`, whose compiler checks refs if the type of the scenario has them. */
export interface CreateSandbox {
  /**
   * Creates a sandbox, whose clock starts with its first use. Synchronous, in Node and in browsers.
   *
   * Throws a `ScenarioError` with all problems of a scenario value, `scenario_not_found`, or `validation_failed` for an
   * invalid option.
   *
   * @example
   * const sandbox = createSandbox({ scenario: "key-states", seed: 7 });
   * const response = await sandbox.fetch("https://any.example/v1/relying-party/me", {
   *   headers: { "x-api-key": sandbox.secret("revoked") },
   * });
   * response.status; // 401
   */
  <const Source extends SandboxSource>(
    // Not optional here: an editor then suggests the bundled names, and the fields of a scenario.
    options: Omit<SandboxOptions, "scenario"> & { readonly scenario: Source },
  ): Sandbox<ScenarioKeyRef<Source>, OrganizationRef<Source>>;
  (options?: SandboxOptions<never>): Sandbox<ScenarioKeyRef<"key-states">, OrganizationRef<"key-states">>;
  /** For options in a variable, which may have no scenario. */
  (options: SandboxOptions<SandboxSource>): Sandbox;
}

/**
 * Makes `createSandbox` for an entry point: those for Node and for pages have their own farmers. `currentRun`: the run of `exec` or
 * `certify` that this process belongs to, if any.
 */
export function sandboxCreator(
  farmers: FarmerMaker,
  currentRun: () => SandboxRun | undefined,
): CreateSandbox {
  const platform: Platform = { ...webPlatform, farmers };

  function createSandbox(options: SandboxOptions<SandboxSource> = {}): Sandbox {
    requireKnownOptions("create the sandbox", options, sandboxOptions);
    const { scenario: source, ...startOptions } = options;

    // The run of `exec` or `certify`, if any, sets what the options leave open.
    const run = currentRun();
    const scenarioOfRun = source === undefined ? run?.scenario : undefined;
    const given = source === undefined ? "key-states" : source;
    const started = scenarioOfRun ?? resolveSource(given);
    const completed = run?.optionsFor(startOptions) ?? startOptions;
    const start = prepareStart({
      source: started,
      options: completed,
      platform,
      clientRun: run?.conditionedRun,
      invocation: { ...invocationOfServer(), isInTest: true },
    });

    // It starts with its first use: while modules load, the wall clock of some runtimes shows another time.
    let sandbox: SandboxState | undefined;
    return sandboxApi(() => {
      if (sandbox === undefined) {
        sandbox = startSandbox(start);
        run?.reportRequestsOf(sandbox);
      }
      return sandbox;
    });
  }
  return createSandbox as CreateSandbox; // only types have the refs
}

/** What each sandbox of `createSandbox` gets from this runtime, in pages and in Node. */
const webPlatform = {
  ...realTime,
  sha256: sha256Hex,
  endpoints: endpointsIn,
  routes: routesOf,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] as number,
};
