import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { RowVariant, VariationRow } from "./row.js";
import { variationTable } from "./table.js";

// A sandbox may set assumptions itself, in its scenario or by a call: its own assumptions. Two kinds of them matter elsewhere:
// - kept from varying: with the profile `varied`, the value stays, and only the forms vary in which responses can have it
// - pinned, as reports name it: kept from varying, or another value than that of the profile

/** The assumptions that the sandbox sets itself, and that its profile would set differently, or vary. */
export function pinnedAssumptions(sandbox: SandboxState): (keyof Assumptions)[] {
  const { ownAssumptions, endpoints } = sandbox;
  const ofProfile = resolveAssumptions(profileInEffect(sandbox), {}, endpoints);
  const keptFromVarying = assumptionsKeptFromVarying(sandbox);

  const names: (keyof Assumptions)[] = [];
  for (const name of Object.keys(ownAssumptions) as (keyof Assumptions)[]) {
    if (ownAssumptions[name] === undefined) continue;
    const wouldVary = keptFromVarying.includes(name);
    const isDifferent = JSON.stringify(ownAssumptions[name]) !== JSON.stringify(ofProfile[name]);
    if (wouldVary || isDifferent) names.push(name);
  }
  return names;
}

/** The assumptions that the sandbox sets itself, and that its profile would vary. */
export function assumptionsKeptFromVarying(
  sandbox: Pick<SandboxState, "profile" | "run" | "ownAssumptions">,
): (keyof Assumptions)[] {
  if (profileInEffect(sandbox) !== "varied") return [];

  const names: (keyof Assumptions)[] = [];
  for (const { assumption } of variationTable) {
    if (assumption !== undefined && sandbox.ownAssumptions[assumption] !== undefined) names.push(assumption);
  }
  return names;
}

/**
 * A row as it varies in a sandbox; `undefined` if it does not vary. If the sandbox sets the row's assumption, the row has only
 * the variants with that value: of `www_authenticate: true`, these are `api_key` and `bare`.
 */
export function varyingRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined) return row;
  const ownValue = sandbox.ownAssumptions[assumption];
  if (ownValue === undefined) return row;

  const variantsWithValue = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  // The form that `minimal` has with this value, such as `api_key`, and the forms that it does not have, such as `bare`.
  const usualForm = variantsWithValue.find(changesNothing);
  const otherForms = variantsWithValue.filter((variant) => variant !== usualForm);

  // There is nothing to choose: `retry_after: seconds` has one form, and a code of the user's own has no variant.
  if (usualForm === undefined || otherForms.length === 0) return undefined;
  // As in the table, the first one does not count as varied.
  return { ...row, variants: [usualForm, ...otherForms] };
}

/** Whether a variant changes nothing of the response that is made with the value which it assumes. */
function changesNothing({ changeBody, changeHeaders }: RowVariant): boolean {
  return changeBody === undefined && changeHeaders === undefined;
}
