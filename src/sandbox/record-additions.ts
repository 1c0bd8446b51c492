import type { Assumptions, Profile } from "../rules/assumptions.js";
import { type RowOfVariants, saltOf, type VariantRules, type VariedPoint, variantOn } from "./variants.js";

// What the profile `varied` adds to each key and organization (R4) where responses and lists show them. No record has it.

export interface RecordAdditions {
  readonly nameEnding: string;
  /** The scopes that each key shows besides its own. No endpoint requires any of these: a key that shows a scope must also pass where the scope is required. */
  readonly scopes: readonly string[];
  /** The variants that decide all this, which only 200s show. */
  readonly variants: readonly VariedPoint[];
}

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

/** What a profile adds: `varied` has one variant of each row in all records, any other adds nothing. */
export function recordAdditions(
  profile: Profile,
  rules: VariantRules,
  ownAssumptions: Partial<Assumptions>,
  endpoints: readonly { readonly scope?: string | null }[],
): RecordAdditions {
  if (profile !== "varied") return { nameEnding: "", scopes: [], variants: [] };
  const ending = variantOn(200, endingsRow, rules);
  const variants: VariedPoint[] = [{ row: endingsRow.id, variant: ending.id, status: 200 }];

  // A sandbox that sets the scopes leaves none open.
  let scopes: readonly string[] = [];
  if (ownAssumptions.scopes === undefined) {
    const granted = variantOn(200, scopesRow, rules);
    const neededScopes = endpoints.map(({ scope }) => scope);
    scopes = granted.added.filter((scope) => !neededScopes.includes(scope));
    variants.push({ row: scopesRow.id, variant: granted.id, status: 200 });
  }
  return { nameEnding: ending.added, scopes, variants };
}
