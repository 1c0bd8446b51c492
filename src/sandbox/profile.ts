import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { Endpoint } from "./endpoint.js";
import type { VariantRules } from "./variants.js";

/** What decides a sandbox's profile, its assumptions, and what `varied` adds to its records: a sandbox, or one that starts. */
export interface ProfileSettings {
  readonly seed: number;
  readonly profile: Profile;
  readonly ownAssumptions: Partial<Assumptions>;
  readonly run: { readonly profile?: Profile | undefined; readonly rows?: VariantRules["rows"] } | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileInEffect({ run, profile }: Pick<ProfileSettings, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

/** The assumptions in effect: those of the profile in effect, except what the sandbox sets itself. */
export function assumptionsInEffect(settings: Omit<ProfileSettings, "seed">): Assumptions {
  return resolveAssumptions(profileInEffect(settings), settings.ownAssumptions, settings.endpoints);
}
