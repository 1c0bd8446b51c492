import type { NamedScenario } from "../scenario/scenario-source.js";
import type { Invocation } from "./invocation.js";
import type { Platform } from "./platform.js";
import type { ConditionedRun, StartOptions } from "./sandbox-state.js";

/** Where a sandbox runs. */
export interface Surroundings {
  readonly platform: Platform;
  /** The client's run that it belongs to, whose conditions come before the rest of the state. Default: none. */
  readonly run?: ConditionedRun | undefined;
  /** Default: that of a server without HTTPS, by the name of the program. */
  readonly invocation?: Invocation | undefined;
}

/** All that a sandbox starts with: a scenario with the options applied, as `checkedStart` does it, and where the sandbox runs. */
export interface Start extends NamedScenario, Surroundings {
  /** The options: those of a first start are kept for other scenarios that start later. */
  readonly startOptions: StartOptions;
}
