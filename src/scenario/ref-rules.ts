import type { Finding } from "./finding.js";
import { nearest } from "./nearest.js";
import { defaultKeysPerOrganization, populatedKeyRef, populatedNumbers, populatedRef } from "./population.js";
import { quote } from "./quote.js";
import { freeRefIn } from "./ref.js";
import type { KeyFacts, ScenarioRule, WorldFacts } from "./world-facts.js";

/** A world without a relying party can answer nothing but 401. */
export const someOrganization: ScenarioRule = ({ organizations, population, refsAreCertain }) =>
  organizations.size > 0 || (population?.organizations ?? 0) > 0 || !refsAreCertain
    ? []
    : [
        {
          code: "no_organizations",
          path: ["organizations"],
          aim: "key",
          message: "the scenario has no organization",
          hint: "add one: organizations: { harvest-bank: { type: bank } }",
        },
      ];

/** No two organizations have the same id. */
export const organizationIdsAreUnique: ScenarioRule = ({ organizations }) => {
  const first = new Map<string, string>();
  const findings: Finding[] = [];
  for (const [ref, { id }] of organizations) {
    if (id === undefined) continue;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, ref);
    else {
      findings.push({
        code: "duplicate_organization_id",
        path: ["organizations", ref, "id"],
        message: `${quote(earlier)} has the same id`,
        hint: "give each organization its own id, or leave it out",
      });
    }
  }
  return findings;
};

/** A key's ref says which key is meant without naming its organization. */
export const keyRefsAreUnique: ScenarioRule = (facts) => {
  const { keys, keyOf } = facts;
  return keys
    .filter((key) => keyOf.get(key.ref) !== key)
    .map((key) => sharedRef(keyOf.get(key.ref) as KeyFacts, key, facts));
};

// Of a scenario that extends another one, the author can change their own key, wherever it stands.
function sharedRef(first: KeyFacts, second: KeyFacts, { extended, keyOf }: WorldFacts): Finding {
  const isOwn = ({ path }: KeyFacts) => extended?.isOwn(path) ?? true;
  const [own, other] = isOwn(first) && !isOwn(second) ? [first, second] : [second, first];
  const finding = { code: "duplicate_key_ref", path: own.path, aim: "key" } as const;
  if (extended === undefined || isOwn(other)) {
    return {
      ...finding,
      message: `${quote(other.organization)} already has a key ${quote(own.ref)}`,
      hint: "refs of keys are unique in the whole scenario, also across organizations",
    };
  }
  const free = freeRefIn((ref) => keyOf.has(ref), own.ref);
  return {
    ...finding,
    message: `${quote(other.organization)} already has a key ${quote(own.ref)}, which comes from extends: ${extended.name}`,
    hint: `call it something else, such as ${free}, or change that one under organizations.${other.organization}.keys`,
  };
}

export const defaultKeyExists: ScenarioRule = (facts) => {
  const { defaultKey, keyOf, refsAreCertain } = facts;
  if (defaultKey === undefined || keyOf.has(defaultKey) || !refsAreCertain) return [];
  return [
    {
      code: "unknown_key_ref",
      path: ["default_key"],
      message: `there is no key ${quote(defaultKey)}`,
      hint: knownKeysHint(defaultKey, facts),
    },
  ];
};

/** What to offer for a ref that no key has. */
export function knownKeysHint(ref: string, facts: WorldFacts): string {
  return populationHint(ref, facts) ?? knownRefsHint(ref, facts.keyOf, "keys");
}

/** What to offer for a ref that looks like one of the population; `undefined` for any other. */
export function populationHint(
  ref: string,
  { population }: Pick<WorldFacts, "population">,
): string | undefined {
  const numbers = populatedNumbers(ref);
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } =
    population ?? {};
  if (numbers === undefined || organizations === 0) return undefined;
  if (numbers.key === undefined) return `those of the population end with ${populatedRef(organizations)}`;
  if (keysEach === 0) return "the organizations of the population have no keys";
  return `those of the population end with ${populatedKeyRef(organizations, keysEach)}`;
}

/** The refs of the keys or of the organizations that there are. */
export type KnownRefs = Pick<ReadonlyMap<string, unknown>, "has" | "keys" | "size">;

/** What to offer for a ref that none of these things has. */
export function knownRefsHint(ref: string, known: KnownRefs, things: string): string {
  // With more of them than this, many wrong refs would each be compared to many.
  const near = known.size > 1000 ? undefined : nearest(ref, known.keys());
  if (near !== undefined) return `did you mean ${near}?`;
  if (known.size === 0) return `the scenario has no ${things}`;
  const shown: string[] = [];
  for (const name of known.keys()) if (shown.push(name) === 10) break;
  return `${things} of this scenario: ${shown.join(", ")}${known.size > shown.length ? ", …" : ""}`;
}
