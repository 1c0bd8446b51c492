import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { RowVariant, VariationRow } from "./row.js";
import { variationTable } from "./table.js";

/** The assumptions that the sandbox sets itself, and that its profile would set differently, or vary. */
export function ownAssumptionNames(sandbox: SandboxState): (keyof Assumptions)[] {
  const { ownAssumptions, endpoints } = sandbox;
  const ofProfile = resolveAssumptions(profileInEffect(sandbox), {}, endpoints);
  const variedNames = ownVariedNames(sandbox);

  const names: (keyof Assumptions)[] = [];
  for (const name of Object.keys(ownAssumptions) as (keyof Assumptions)[]) {
    if (ownAssumptions[name] === undefined) continue;
    const isVaried = variedNames.includes(name);
    const isDifferent = JSON.stringify(ownAssumptions[name]) !== JSON.stringify(ofProfile[name]);
    if (isVaried || isDifferent) names.push(name);
  }
  return names;
}

/** The assumptions that the sandbox sets itself, and that its profile would vary. */
export function ownVariedNames(
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
 * What a row leaves open in a sandbox; `undefined` if nothing. A row whose assumption the sandbox does not set is wholly open.
 * Of one whose assumption it sets, the variants with that value are open, if there are several: `www_authenticate: true` can
 * be written in the forms `api_key` and `bare`.
 */
export function openRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined) return row;
  const ownValue = sandbox.ownAssumptions[assumption];
  if (ownValue === undefined) return row;

  // The value can be written in several forms, one of which is what `minimal` does with it.
  const forms = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  const plainForm = forms.find(onlyAssumes);
  if (plainForm === undefined || forms.length === 1) return undefined;

  // The first variant of a row is the one that does not count as a variation.
  const otherForms = forms.filter((variant) => variant !== plainForm);
  return { ...row, variants: [plainForm, ...otherForms] };
}

/** Whether a variant changes nothing of a response but by its assumption. */
function onlyAssumes({ changeBody, changeHeaders }: RowVariant): boolean {
  return changeBody === undefined && changeHeaders === undefined;
}
