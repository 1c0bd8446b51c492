import type { Organization } from "../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../rules/seed.js";
import patterns from "./name-patterns.json" with { type: "json" };
import words from "./name-words.generated.json" with { type: "json" };

// The names that a scenario leaves out: the seed and the ref decide each of them.

/** A bank or an insurer in an invented town: one that is named after a real town may exist. */
export function inventOrganizationName(seed: number, ref: string, type: Organization["type"]): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, words.familyNames);
  // Such as `{{family}} & {{partner}} Bank`.
  const pattern = pick(draw, patterns.organizations[type]);
  return pattern.replace(/\{\{(\w+)\}\}/g, (_match, part: string) => {
    if (part === "family") return family;
    if (part === "partner") return inventPartner(draw, family);
    if (part === "town") return inventTown(draw, family);
    return "";
  });
}

function inventPartner(draw: RandomStream, family: string): string {
  const others = words.familyNames.filter((name) => name !== family);
  return pick(draw, others);
}

function inventTown(draw: RandomStream, family: string): string {
  // One town in four has a prefix.
  if (pick(draw, [true, false, false, false])) return `${pick(draw, words.townPrefixes)} ${family}`;
  // A repeated letter between the two parts looks wrong: "Dibbertton".
  const joinable = words.townSuffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${pick(draw, joinable)}`;
}

/** The system that uses a key: `Core banking, test environment`. Banks and insurers have the same ones. */
export function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const { systems, installations } = patterns.keys;
  const system = pick(draw, systems);
  // One name in three also contains an installation of the system.
  const hasInstallation = pick(draw, [true, false, false]);
  return hasInstallation ? `${system}, ${pick(draw, installations)}` : system;
}
