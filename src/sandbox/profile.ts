import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import type { Endpoint } from "./endpoint.js";
import type { VariantRules } from "./variants.js";

/** The part of a sandbox that decides its profile and its assumptions. */
export interface ProfileSettings {
  readonly seed: number;
  readonly profile: Profile;
  readonly ownAssumptions: Partial<Assumptions>;
  readonly run: { readonly profile?: Profile | undefined; readonly rows?: VariantRules["rows"] } | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileOf({ run, profile }: Pick<ProfileSettings, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

export function assumptionsIn(sandbox: Omit<ProfileSettings, "seed">): Assumptions {
  return assumptionsFor(profileOf(sandbox), sandbox.ownAssumptions, sandbox.endpoints);
}
