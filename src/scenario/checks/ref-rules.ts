import { lastClockInstant } from "../../rules/api-key.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { isReserved } from "../format/fields.js";
import { isPopulated } from "../population.js";
import type { Facts, KnownRefs, ScenarioRule } from "./facts.js";

const refsAreFree: ScenarioRule = ({ scenario, organizations, keys, keyOf, wrong }) => {
  const { population } = scenario;
  if (organizations.size === 0 && (population?.organizations ?? 0) === 0) {
    const hint = "add one: organizations: { harvest-bank: { type: bank } }";
    wrong("no_organizations", ["organizations"], "the scenario has no organization", hint, "key");
  }
  const isTaken = (ref: string, path: FieldPath) => {
    if (!isPopulated(ref, population)) return;
    const hint = "choose another one: the population uses organization-1, organization-1-key-1 and so on";
    wrong("taken_by_population", path, `the population has the ref ${quote(ref)}`, hint, "key");
  };
  for (const ref of organizations.keys()) isTaken(ref, ["organizations", ref]);
  for (const key of keys) {
    const { ref, path } = key;
    isTaken(ref, path);
    if (isReserved(ref)) {
      const message = `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`;
      wrong("reserved_key_ref", path, message, `call it ${ref}-key`, "key");
    }
    const first = keyOf.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    wrong("duplicate_key_ref", path, message, hint, "key");
  }
};

const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const { path, fields } of facts.keys) {
    checkRef("key", fields.replaced_by, [...path, "replaced_by"], facts);
  }
};

export function checkRef(
  kind: keyof Facts["refs"],
  ref: string | undefined,
  path: FieldPath,
  { refs, wrong }: Pick<Facts, "refs" | "wrong">,
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  const hint = () => knownRefsHint(ref, refs[kind], `${kind}s`);
  wrong(`unknown_${kind}_ref`, path, `there is no ${kind} ${quote(ref)}`, hint);
}

const clockIsWithinYears: ScenarioRule = ({ start = 0, wrong }) => {
  if (start <= lastClockInstant) return;
  const latest = new Date(lastClockInstant).toISOString();
  wrong("out_of_range", ["clock", "now"], `a clock cannot start after ${latest}`, "write an earlier time");
};

export const refRules: readonly ScenarioRule[] = [clockIsWithinYears, refsAreFree, refsExist];

function knownRefsHint(ref: string, known: KnownRefs, things: string): string {
  // Comparing each of many wrong refs with more than this would be slow.
  const near = known.size > 300 ? undefined : nearest(ref, known.keys());
  if (near !== undefined) return `did you mean ${near}?`;
  if (known.size === 0) return `the scenario has no ${things}`;
  const names: string[] = [];
  for (const name of known.keys()) if (names.push(name) === 10) break;
  return `${things} of this scenario: ${names.join(", ")}${known.size > names.length ? ", …" : ""}`;
}
