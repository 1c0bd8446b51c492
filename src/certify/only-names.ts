import { faultOutcomeIds, type OutcomeId } from "../rules/outcomes.js";
import { asksFor, type Check, groupNames, nameOf, seedIn } from "./checks/check.js";
import { resendKinds } from "./resends/resend-kinds.js";

/** Whether all names of `--only` ask for a run. `unknown`: the first one that does not, and all names that there are. */
type OnlyNames =
  | { readonly kind: "known" }
  | { readonly kind: "unknown"; readonly name: string; readonly names: readonly string[] };

/** Compares names of `--only` with the runs for a client that covers these outcomes. A name is that of a run, the start of such a name, or a seed. */
export function checkOnlyNames(only: readonly string[], outcomes: readonly OutcomeId[]): OnlyNames {
  const checks: Check[] = [{ kind: "varied", seed: "mixed" }];
  for (const outcome of outcomes) checks.push({ kind: "answer", outcome });
  for (const { check } of resendKinds(outcomes)) checks.push(check);
  for (const outcome of faultOutcomeIds) checks.push({ kind: "fault", outcome });
  const names = [...groupNames, ...checks.map(nameOf)];

  for (const name of only) {
    if (names.includes(name) || checks.some((check) => asksFor(name, check))) continue;
    if (seedIn(name) === undefined) return { kind: "unknown", name, names };
  }
  return { kind: "known" };
}
