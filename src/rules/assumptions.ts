/** The sandbox's choices for what the specification leaves open; `assumptions.json` explains each one. */
export interface Assumptions {
  readonly rate_limit_code: string;
  readonly request_id_on_errors: boolean;
  readonly retry_after: "none" | "seconds" | "date";
  readonly rate_limit_headers: "none" | "draft" | "legacy";
  readonly error_details: boolean;
  readonly me_scope: string | null;
  readonly scopes: readonly string[];
  readonly www_authenticate: boolean;
}

interface AssumptionDefinition<Value> {
  readonly kind: "boolean" | "choice" | "code" | "scope_or_null" | "scopes";
  readonly choices?: readonly string[];
  /** The value in the profile `minimal`: only what the specification promises. */
  readonly minimal: Value;
  /** The value in the profile `typical`: what good gateways do. Default: the value of `minimal`. */
  readonly typical?: Value;
}

export const assumptionTable: {
  // Mapped, because each row's values have the type of its assumption.
  readonly [Name in keyof Assumptions]: AssumptionDefinition<Assumptions[Name]>;
} = {
  rate_limit_code: { kind: "code", minimal: "rate_limited" },
  request_id_on_errors: { kind: "boolean", minimal: false, typical: true },
  retry_after: { kind: "choice", choices: ["none", "seconds", "date"], minimal: "none", typical: "seconds" },
  rate_limit_headers: {
    kind: "choice",
    choices: ["none", "draft", "legacy"],
    minimal: "none",
    typical: "draft",
  },
  error_details: { kind: "boolean", minimal: false, typical: true },
  me_scope: { kind: "scope_or_null", minimal: "attestations:read" },
  scopes: {
    kind: "scopes",
    minimal: ["attestations:read", "attestations:write", "consents:read", "consents:write"],
  },
  www_authenticate: { kind: "boolean", minimal: false, typical: true },
};

/**
 * A named set of assumptions. `varied` has the values of `minimal`, and varies everything else that the specification
 * leaves open, by the seed.
 */
export type Profile = keyof typeof profileWords;
/** What the sandbox does in each profile, where the specification is silent. */
export const profileWords = {
  minimal: "only what the specification promises",
  typical: "what good gateways do",
  varied: "like minimal, but with open details by the seed",
} as const;
export const profiles = Object.keys(profileWords) as readonly Profile[]; // its keys are the profiles

/** What each profile assumes if nothing else is chosen. Sandboxes share them. */
const assumptionsOfProfiles = new Map<Profile, Assumptions>();
for (const profile of profiles) {
  const values: Record<string, unknown> = {};
  for (const [name, { minimal, typical = minimal }] of Object.entries(assumptionTable)) {
    values[name] = profile === "typical" ? typical : minimal;
  }
  assumptionsOfProfiles.set(profile, Object.freeze(values) as unknown as Assumptions); // each has its row
}

/** The assumptions of a profile with the given ones. The scopes that these endpoints need are always among `scopes`. */
export function resolveAssumptions(
  profile: Profile,
  ownAssumptions: Partial<Assumptions> = {},
  endpoints: readonly { readonly scope?: string | null }[] = [],
): Assumptions {
  let chosen = assumptionsOfProfiles.get(profile) as Assumptions; // each is in it

  // JavaScript can pass members that are `undefined`.
  const ownMembers = Object.entries(ownAssumptions).filter(([, value]) => value !== undefined);
  if (ownMembers.length > 0) chosen = { ...chosen, ...Object.fromEntries(ownMembers) };

  const missingScopes = new Set<string>();
  for (const { scope } of endpoints) {
    if (typeof scope === "string" && !chosen.scopes.includes(scope)) missingScopes.add(scope);
  }
  if (missingScopes.size === 0) return chosen;
  return { ...chosen, scopes: [...new Set([...chosen.scopes, ...missingScopes])] };
}
