import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import type { KeyLimits } from "../rules/key-state.js";
import type { SandboxState } from "./sandbox-state.js";
import { windowsOf } from "./usage.js";
import { type RecordAdditions, type RowOfVariants, type VariedPoint, variantOn } from "./variants.js";

// How the API behaves where the specification leaves it open: a profile, the assumptions that the sandbox sets itself, and what the
// profile `varied` adds to records.

/** What decides how the API behaves where the specification leaves it open: of a sandbox, or of one that starts. */
type BehaviorSettings = Pick<SandboxState, "seed" | "profile" | "ownAssumptions" | "run" | "endpoints">;

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

const nothingAdded: RecordAdditions = {
  nameEnding: "",
  scopes: [],
  limits: { perMinute: 0, perDay: 0 },
  variants: [],
};

/** No limit gets lower, which would reject requests. */
const limitsRow = recordRow<KeyLimits>("key.limits", nothingAdded.limits, {
  some: { perMinute: 15, perDay: 250 },
  half: { perMinute: 30, perDay: 500 },
  twice: { perMinute: 60, perDay: 1000 },
  beyond_16_bits: { perMinute: 0, perDay: 99_000 },
});

/** Endings of names: accents, decomposed letters, other scripts, characters beyond 16 bits, markup, extra length. */
const endingsRow = recordRow("organization.name_ending", "", {
  accents: " – Société Générale d’Épargne & Fils",
  decomposed: " Cafe\u0301 A\u030angstro\u0308m",
  other_scripts: " بنك الحصاد 收穫銀行",
  beyond_16_bits: " 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃",
  markup: " <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s",
  long: ` ${"of the United Valleys ".repeat(12).trim()}`,
});

/** Undocumented scopes: a new endpoint adds one, and generations of endpoints spell theirs differently. */
const scopesRow = recordRow<readonly string[]>("key.granted_scopes", [], {
  one: ["parcels:read"],
  several: ["attestations:read:self", "webhooks:manage", "consents.export"],
});

/** A row whose first variant, `none`, adds `nothing`. `additions`: what each other variant adds, by its id. */
function recordRow<Added>(
  id: string,
  nothing: Added,
  additions: Readonly<Record<string, Added>>,
): RowOfVariants<{ readonly id: string; readonly added: Added }> {
  const variants = Object.entries(additions).map(([variant, added]) => ({ id: variant, added }));
  return { id, variants: [{ id: "none", added: nothing }, ...variants] };
}

/** What a sandbox adds to its records: each row has one variant in all of them. */
function recordAdditions(settings: BehaviorSettings): RecordAdditions {
  if (profileInEffect(settings) !== "varied") return nothingAdded;
  const rules = { seed: settings.seed, rows: settings.run?.rows };
  const limits = variantOn(200, limitsRow, rules);
  const ending = variantOn(200, endingsRow, rules);
  const additions = { nameEnding: ending.added, limits: limits.added };
  const variants = [pointOf(limitsRow, limits), pointOf(endingsRow, ending)];

  // A sandbox that sets the scopes leaves none open.
  if (settings.ownAssumptions.scopes !== undefined) return { ...additions, scopes: [], variants };

  const granted = variantOn(200, scopesRow, rules);
  const neededScopes = settings.endpoints.map(({ scope }) => scope);
  const scopes = granted.added.filter((scope) => !neededScopes.includes(scope));
  return { ...additions, scopes, variants: [...variants, pointOf(scopesRow, granted)] };
}

function pointOf(row: { readonly id: string }, variant: { readonly id: string }): VariedPoint {
  return { row: row.id, variant: variant.id, status: 200 };
}
