import type { OrganizationType } from "../../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../../rules/seed.js";
import patterns from "./name-patterns.json" with { type: "json" };
import words from "./name-words.generated.json" with { type: "json" };

/** Towns are also invented, because a bank named after a real town may exist. */
export function inventOrganizationName(seed: number, ref: string, type: OrganizationType): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, words.familyNames);
  const parts: Record<string, () => string> = {
    family: () => family,
    partner: () =>
      pick(
        draw,
        words.familyNames.filter((name) => name !== family),
      ),
    town: () => inventTown(draw, family),
  };
  return pick(draw, patterns.organizations[type]).replace(
    /\{\{(\w+)\}\}/g,
    (_match, part: string) => parts[part]?.() ?? "",
  );
}

function inventTown(draw: RandomStream, family: string): string {
  if (pick(draw, [true, false, false, false])) return `${pick(draw, words.townPrefixes)} ${family}`;
  // A repeated letter between the two parts looks wrong: "Dibbertton".
  const joinable = words.townSuffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${pick(draw, joinable)}`;
}

/** The system that uses the key. Banks and insurers share one list: only the seed and the ref decide. */
export function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const { systems, installations } = patterns.keys;
  const system = pick(draw, systems);
  // One name in three also contains an installation of the system.
  const qualified = pick(draw, [true, false, false]);
  return qualified ? `${system}, ${pick(draw, installations)}` : system;
}
