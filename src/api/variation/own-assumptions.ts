import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import { profileOf } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { type VariationRow, variationTable } from "./table.js";

/** The assumptions that the sandbox sets itself, and that its profile would set differently, or vary. */
export function ownAssumptionNames(sandbox: SandboxState): (keyof Assumptions)[] {
  const { ownAssumptions, endpoints } = sandbox;
  const ofProfile = assumptionsFor(profileOf(sandbox), {}, endpoints);
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
  if (profileOf(sandbox) !== "varied") return [];

  const names: (keyof Assumptions)[] = [];
  for (const { assumption } of variationTable) {
    if (assumption !== undefined && sandbox.ownAssumptions[assumption] !== undefined) names.push(assumption);
  }
  return names;
}

/** The row with the variants that agree with the sandbox's own assumption: the forms of what is there. `undefined` if it does not vary. */
export function openRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined) return row;
  const ownValue = sandbox.ownAssumptions[assumption];
  if (ownValue === undefined) return row;

  const variants = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  const plain = variants.find((variant) => variant.change === undefined);
  if (plain === undefined || variants.length === 1) return undefined;

  // The first one does not count as a variation.
  const others = variants.filter((variant) => variant !== plain);
  return { ...row, variants: [plain, ...others] };
}
