import type { Finding } from "./finding.js";
import { isPopulated, populatedNumbers, populatedOrganization, populatedRef } from "./population.js";
import { quote } from "./quote.js";
import type { Scenario } from "./scenario.generated.js";
import type { KeyFacts, OrganizationFields, ScenarioRule } from "./world-facts.js";

/** No organization and no key that is written out has the ref of one of the population. */
export const populatedRefsAreFree: ScenarioRule = ({ organizations, keys, population, populated }) => {
  const taken = (ref: string, path: Finding["path"], what: string): Finding => ({
    code: "taken_by_population",
    path,
    aim: "key",
    message: `${quote(ref)} is the ref of ${what} of the population`,
    hint: "call it something else: those of the population are organization-1, organization-1-key-1 and so on",
  });
  return [
    ...[...organizations.keys()]
      .filter((ref) => isPopulated(ref, population) && !populated.has(ref))
      .map((ref) => taken(ref, ["organizations", ref], "an organization")),
    ...keys
      .filter(({ ref }) => isPopulated(ref, population))
      .map(({ ref, path }) => taken(ref, path, "a key")),
  ];
};

/** The organizations and keys of the population of which anything in a scenario speaks; there may be a million more. */
export function mentionedPopulation({
  population,
  default_key: defaultKey,
  faults,
  consents,
  timeline,
  story,
}: Partial<Scenario>): {
  readonly organizations: ReadonlyMap<string, OrganizationFields>;
  readonly keys: ReadonlyMap<string, KeyFacts>;
} {
  const organizations = new Map<string, OrganizationFields>();
  const keys = new Map<string, KeyFacts>();
  for (const text of textsIn([defaultKey, faults, consents, timeline, story])) {
    if (!isPopulated(text, population)) continue;
    const { organization: number } = populatedNumbers(text) as { organization: number };
    const ref = populatedRef(number);
    const organization = populatedOrganization(number, population?.keys_per_organization);
    organizations.set(ref, organization);
    const fields = organization.keys?.[text];
    if (fields !== undefined)
      keys.set(text, { ref: text, organization: ref, path: ["population"], fields, sound: true });
  }
  return { organizations, keys };
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) yield* textsIn(member);
  }
}
