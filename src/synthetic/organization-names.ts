import type { OrganizationType } from "../domain/organization.js";
import { pick, type RandomStream, randomStream } from "../domain/seed.js";
import { familyNames, townPrefixes, townSuffixes } from "./name-tables.generated.js";

const patterns: Record<OrganizationType, readonly string[]> = {
  bank: [
    "{{town}} Savings Bank",
    "{{town}} Cooperative Bank",
    "{{town}} Agricultural Bank",
    "{{town}} Mutual Savings Bank",
    "{{town}} Rural Credit Bank",
    "{{town}} Land Bank",
    "{{town}} Harvest Bank",
    "{{town}} Farmers Credit Union",
    "Agricultural Bank of {{town}}",
    "Cooperative Bank of {{town}}",
    "Farmers Savings Bank of {{town}}",
    "Growers Bank of {{town}}",
    "Smallholders Bank of {{town}}",
    "{{family}} & {{partner}} Bank",
    "{{family}} & {{partner}} Farm Credit Bank",
  ],
  insurer: [
    "{{town}} Mutual Insurance",
    "{{town}} Crop Insurance",
    "{{town}} Agricultural Insurance",
    "{{town}} Farm Insurance",
    "{{town}} Hail Insurance",
    "{{town}} Livestock Insurance",
    "{{town}} Cooperative Assurance",
    "{{town}} Mutual Assurance Society",
    "Farmers Mutual Insurance of {{town}}",
    "Growers Mutual Assurance of {{town}}",
    "Rural Insurance Society of {{town}}",
    "{{family}} & {{partner}} Insurance",
    "{{family}} & {{partner}} Assurance",
  ],
};

/**
 * Invents the name of a bank or an insurer.
 *
 * Towns are made up as well, since a bank named after a real town may exist.
 *
 * @example
 * inventOrganizationName(1, "harvest-bank", "bank"); // the same name in every process
 */
export function inventOrganizationName(seed: number, ref: string, type: OrganizationType): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, familyNames);
  const parts: Record<string, () => string> = {
    family: () => family,
    partner: () =>
      pick(
        draw,
        familyNames.filter((name) => name !== family),
      ),
    town: () => inventTown(draw, family),
  };
  return pick(draw, patterns[type]).replace(
    /\{\{(\w+)\}\}/g,
    (_match, part: string) => parts[part]?.() ?? "",
  );
}

function inventTown(draw: RandomStream, family: string): string {
  if (pick(draw, [true, false, false, false])) return `${pick(draw, townPrefixes)} ${family}`;
  // The same letter on both sides of the seam reads badly: "Dibbertton".
  const joinable = townSuffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${pick(draw, joinable)}`;
}
