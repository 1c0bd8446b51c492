import { resolveAssumptions } from "../rules/assumptions.js";
import type { KeyLimits } from "../rules/key-state.js";
import { minute } from "../rules/time.js";
import type { SandboxState } from "./sandbox-state.js";
import { type RecordAdditions, type RowOfVariants, saltOf, type VariedPoint, variantOn } from "./variants.js";

// How the API behaves where the specification leaves it open: a profile, the assumptions that the sandbox sets itself, and what the
// profile `varied` adds to records.

/** How the API behaves: with the assumptions of the profile in effect, except those that the sandbox sets itself. */
export function behaviorOf(
  settings: Pick<SandboxState, "seed" | "profile" | "ownAssumptions" | "run" | "endpoints">,
): Pick<
  SandboxState,
  "profile" | "ownAssumptions" | "profileInEffect" | "assumptions" | "windows" | "additions"
> {
  const { profile, ownAssumptions, run, endpoints } = settings;
  const profileInEffect = run?.profile ?? profile;
  const assumptions = resolveAssumptions(profileInEffect, ownAssumptions, endpoints);
  const additions = profileInEffect === "varied" ? recordAdditions(settings) : nothingAdded;
  const [hours, minutes] = assumptions.day_resets_at.split(":");
  const windows = {
    sliding: assumptions.minute_window === "sliding",
    dayResetsAt: (Number(hours) * 60 + Number(minutes)) * minute,
  };
  return { profile, ownAssumptions, profileInEffect, assumptions, windows, additions };
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
  return { id, salt: saltOf(id), variants: [{ id: "none", added: nothing }, ...variants] };
}

/** What the profile `varied` adds to records: each row has one variant in all of them. */
function recordAdditions({
  seed,
  run,
  ownAssumptions,
  endpoints,
}: Pick<SandboxState, "seed" | "run" | "ownAssumptions" | "endpoints">): RecordAdditions {
  const rules = { seed, rows: run?.rows };
  const limits = variantOn(200, limitsRow, rules);
  const ending = variantOn(200, endingsRow, rules);
  const variants: VariedPoint[] = [
    { row: limitsRow.id, variant: limits.id, status: 200 },
    { row: endingsRow.id, variant: ending.id, status: 200 },
  ];

  // A sandbox that sets the scopes leaves none open.
  let scopes: readonly string[] = [];
  if (ownAssumptions.scopes === undefined) {
    const granted = variantOn(200, scopesRow, rules);
    const neededScopes = endpoints.map(({ scope }) => scope);
    scopes = granted.added.filter((scope) => !neededScopes.includes(scope));
    variants.push({ row: scopesRow.id, variant: granted.id, status: 200 });
  }
  return { nameEnding: ending.added, limits: limits.added, scopes, variants };
}
