import type { Assumptions } from "../../rules/assumptions.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { RowVariant, VariationRow } from "./row.js";
import { variationTable } from "./table.js";

// A sandbox may set assumptions itself, in its scenario or by a call: its own assumptions. With the profile `varied`, their values
// are kept, and only the forms vary in which responses can have them.

/** The names of the assumptions that the sandbox sets itself. */
export function ownAssumptionNames({
  ownAssumptions,
}: Pick<SandboxState, "ownAssumptions">): (keyof Assumptions)[] {
  const names = Object.keys(ownAssumptions) as (keyof Assumptions)[];
  return names.filter((name) => ownAssumptions[name] !== undefined);
}

/** The assumptions that the sandbox sets itself, and that its profile would vary, in the order of the table. */
export function assumptionsKeptFromVarying(
  sandbox: Pick<SandboxState, "profile" | "run" | "ownAssumptions">,
): (keyof Assumptions)[] {
  if (profileInEffect(sandbox) !== "varied") return [];

  const ownNames = ownAssumptionNames(sandbox);
  const names: (keyof Assumptions)[] = [];
  for (const { assumption } of variationTable) {
    if (assumption !== undefined && ownNames.includes(assumption)) names.push(assumption);
  }
  return names;
}

/**
 * A row as it varies in a sandbox; `undefined` if it does not vary. If the sandbox sets the row's assumption, the row has only
 * the variants with that value, its usual form first: of `www_authenticate: true`, these are `api_key` and `bare`.
 */
export function varyingRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined) return row;
  const ownValue = sandbox.ownAssumptions[assumption];
  if (ownValue === undefined) return row;

  const forms = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  const usualForm = forms.find(isUsual);
  const otherForms = forms.filter((form) => form !== usualForm);
  // `retry_after: seconds` has one form, and a code of the user's own has none.
  if (usualForm === undefined || otherForms.length === 0) return undefined;
  return { ...row, variants: [usualForm, ...otherForms] };
}

/** Whether a variant is what `minimal` makes of the value that it assumes. */
function isUsual({ changeBody, changeHeaders }: RowVariant): boolean {
  return changeBody === undefined && changeHeaders === undefined;
}
