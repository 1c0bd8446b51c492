import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { RowVariant, VariationRow } from "./row.js";
import { variationTable } from "./table.js";

// A sandbox may set assumptions itself, in its scenario or by a call: its own assumptions. The profile `varied` keeps their values,
// and varies only the forms in which responses can have them. Reports name an own assumption as pinned if it changes something: it
// differs from the profile's value, or `varied` would vary it.

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

  const withValue = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  // The first variant of a row does not count as varied. Here it is the one that only has the sandbox's own value: `api_key`.
  const onlyValue = withValue.find(onlyAssumes);
  const others = withValue.filter((variant) => variant !== onlyValue);

  // There is nothing to choose: `retry_after: seconds` has one variant, and a code of the user's own has none.
  if (onlyValue === undefined || others.length === 0) return undefined;
  return { ...row, variants: [onlyValue, ...others] };
}

/** Whether a variant has its effect only through the value that it assumes. */
function onlyAssumes({ changeBody, changeHeaders }: RowVariant): boolean {
  return changeBody === undefined && changeHeaders === undefined;
}
