import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { VariantRules } from "./variants.js";

/** What decides how the API behaves where the specification leaves it open: of a sandbox, or of one that starts. */
export interface BehaviorChoices {
  readonly seed: number;
  /** The sandbox's own. */
  readonly profile: Profile;
  /** The client's run that the sandbox belongs to. */
  readonly run: { readonly profile?: Profile | undefined; readonly rows?: VariantRules["rows"] } | undefined;
  readonly ownAssumptions: Partial<Assumptions>;
  /** The endpoints, of which each may need a scope. */
  readonly endpoints: readonly { readonly scope?: string | null }[];
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileInEffect({ run, profile }: Pick<BehaviorChoices, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

/** The assumptions in effect: those of the profile in effect, except what the sandbox sets itself. */
export function assumptionsInEffect(choices: BehaviorChoices): Assumptions {
  return resolveAssumptions(profileInEffect(choices), choices.ownAssumptions, choices.endpoints);
}
