import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { SandboxState } from "./sandbox-state.js";

/** What decides how the API behaves where the specification leaves it open: of a sandbox, or of one that starts. */
export type BehaviorSettings = Pick<
  SandboxState,
  "seed" | "profile" | "ownAssumptions" | "run" | "endpoints"
>;

/** The profile in effect: the run's before the sandbox's own. */
export function profileInEffect({ run, profile }: Pick<BehaviorSettings, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

/** The assumptions in effect: those of the profile in effect, except what the sandbox sets itself. */
export function assumptionsInEffect(settings: BehaviorSettings): Assumptions {
  return resolveAssumptions(profileInEffect(settings), settings.ownAssumptions, settings.endpoints);
}
