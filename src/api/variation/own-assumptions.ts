import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import { profileOf } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { type VariationRow, variationTable } from "./table.js";

/** The assumptions that the sandbox sets itself, and that its profile would set differently, or vary. */
export function ownAssumptionNames(sandbox: SandboxState): (keyof Assumptions)[] {
  const { ownAssumptions, endpoints } = sandbox;
  const ofProfile = assumptionsFor(profileOf(sandbox), {}, endpoints);
  const varied = ownVariedNames(sandbox);
  const differs = (name: keyof Assumptions) =>
    JSON.stringify(ownAssumptions[name]) !== JSON.stringify(ofProfile[name]);
  return (Object.keys(ownAssumptions) as (keyof Assumptions)[]).filter(
    (name) => ownAssumptions[name] !== undefined && (varied.includes(name) || differs(name)),
  );
}

/** The assumptions that the sandbox sets itself, and that its profile would vary. */
export function ownVariedNames(
  sandbox: Pick<SandboxState, "profile" | "run" | "ownAssumptions">,
): (keyof Assumptions)[] {
  if (profileOf(sandbox) !== "varied") return [];
  const ownRows = variationTable.filter((row) => isOwn(sandbox, row));
  return ownRows.flatMap(({ assumption = [] }) => assumption);
}

/** The row with the variants that agree with the sandbox's own assumption: the forms of what is there. `undefined` if it does not vary. */
export function openRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined || !isOwn(sandbox, row)) return row;
  const variants = row.variants.filter(
    ({ assume }) => assume?.[assumption] === sandbox.ownAssumptions[assumption],
  );
  const first = variants.find(({ change }) => change === undefined);
  if (first === undefined || variants.length === 1) return undefined;
  return { ...row, variants: [first, ...variants.filter((variant) => variant !== first)] };
}

/** Whether the sandbox sets the assumption of a row itself. */
function isOwn(
  { ownAssumptions }: Pick<SandboxState, "ownAssumptions">,
  { assumption }: VariationRow,
): boolean {
  return assumption !== undefined && ownAssumptions[assumption] !== undefined;
}
