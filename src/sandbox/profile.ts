import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { SandboxState } from "./sandbox-state.js";
import { windowsOf } from "./usage.js";
import { recordAdditions } from "./varied-records.js";

/** What decides how the API behaves where the specification leaves it open: of a sandbox, or of one that starts. */
export type BehaviorSettings = Pick<
  SandboxState,
  "seed" | "profile" | "ownAssumptions" | "run" | "endpoints"
>;

/** The profile in effect: the run's before the sandbox's own. */
export function profileInEffect({ run, profile }: Pick<BehaviorSettings, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

/** How the API behaves: with the assumptions of the profile in effect, except those that the sandbox sets itself. */
export function behaviorOf(
  settings: BehaviorSettings,
): Pick<SandboxState, "profile" | "ownAssumptions" | "assumptions" | "windows" | "additions"> {
  const { profile, ownAssumptions, endpoints } = settings;
  const assumptions: Assumptions = resolveAssumptions(profileInEffect(settings), ownAssumptions, endpoints);
  return {
    profile,
    ownAssumptions,
    assumptions,
    windows: windowsOf(assumptions),
    additions: recordAdditions(settings),
  };
}
