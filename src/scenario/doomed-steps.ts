import type { Finding } from "./finding.js";
import { endMadeBy } from "./key-ends.js";
import type { Path } from "./located.js";
import { quote } from "./quote.js";
import { freeRefIn } from "./ref.js";
import type { ActionFields, StepKeys } from "./step-keys.js";
import type { WorldFacts } from "./world-facts.js";

// Actions that the dashboard refuses whatever else happens, and of which a step does not say that they are refused.

type ExpectingAction = ActionFields & { readonly expect?: { readonly error?: string } };

/** What is wrong with an action that can never be done, where these keys are. */
export function doomedFindings(step: ExpectingAction, path: Path, keys: StepKeys): Finding[] {
  if (step.expect?.error !== undefined) return [];
  return [...endedFindings(step, path, keys), ...takenFindings(step, path, keys)];
}

function endedFindings({ rotate, revoke }: ActionFields, path: Path, keys: StepKeys): Finding[] {
  const [verb, action] = rotate === undefined ? (["revoke", revoke] as const) : (["rotate", rotate] as const);
  const end = action && keys.get(action.key)?.end;
  // A member is refused before anybody looks at the key.
  if (action === undefined || end === undefined || action.actor === "member") return [];
  return [
    {
      code: "cannot_happen",
      path: [...path, verb, "key"],
      message: `${quote(action.key)} ${end.said}, and only an active key can be ${verb}d`,
      hint: "mark it expect: { error: key_not_active }, or name another key",
    },
  ];
}

function takenFindings({ create_key: created, rotate }: ActionFields, path: Path, keys: StepKeys): Finding[] {
  const [place, ref] = rotate === undefined ? (["create_key", "ref"] as const) : (["rotate", "as"] as const);
  const wanted = rotate === undefined ? created?.ref : rotate.as;
  const actor = (rotate ?? created)?.actor;
  if (wanted === undefined || actor === "member") return [];
  const taken = keys.get(wanted);
  if (taken === undefined || taken.uncertain) return [];
  const free = freeRefIn((one) => keys.has(one), wanted);
  return [
    {
      code: "duplicate_key_ref",
      path: [...path, place, ref],
      message: `there is a key ${quote(wanted)} already`,
      hint: `write ${ref}: ${free}, or mark the step expect: { error: name_taken }`,
    },
  ];
}

/** Marks the key that a step ends; `name` is what the step is called. */
export function markEnd(step: ExpectingAction, name: string, keys: StepKeys, facts: WorldFacts): void {
  const made = endMadeBy(step, name, facts.resolvedAssumptions.retiring_counts_as_active);
  const key = made && keys.get(made.key);
  if (made === undefined || key === undefined || key.uncertain || key.end?.path !== undefined) return;
  keys.set(made.key, { ...key, end: made.end });
}
