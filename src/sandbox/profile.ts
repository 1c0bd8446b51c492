import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { Endpoint } from "./endpoint.js";
import type { VariantRules } from "./variants.js";

/** What decides the profile in effect: of a sandbox, or of one that starts. */
interface ProfileChoice {
  /** The sandbox's own. */
  readonly profile: Profile;
  /** The client's run that it belongs to. */
  readonly run: { readonly profile?: Profile | undefined; readonly rows?: VariantRules["rows"] } | undefined;
}

/** What decides the assumptions in effect. */
interface AssumptionSettings extends ProfileChoice {
  readonly ownAssumptions: Partial<Assumptions>;
  readonly endpoints: readonly Endpoint[];
}

/** What decides what the profile `varied` adds to the records of keys and organizations. */
export interface ProfileSettings extends AssumptionSettings {
  readonly seed: number;
}

/** The settings of a sandbox as they are now, for a comparison with those after a change. */
export function settingsOf({
  seed,
  profile,
  run,
  ownAssumptions,
  endpoints,
}: ProfileSettings): ProfileSettings {
  return { seed, profile, run, ownAssumptions, endpoints };
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileInEffect({ run, profile }: ProfileChoice): Profile {
  return run?.profile ?? profile;
}

/** The assumptions in effect: those of the profile in effect, except what the sandbox sets itself. */
export function assumptionsInEffect(settings: AssumptionSettings): Assumptions {
  return resolveAssumptions(profileInEffect(settings), settings.ownAssumptions, settings.endpoints);
}
