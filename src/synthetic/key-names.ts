import { pick, randomStream } from "../domain/seed.js";

// What a bank or an insurer connects, in the words of the administrator who names the key. Neutral enough that one
// list serves both kinds, since the name of a key depends on nothing but the seed and its ref.
const systems = [
  "Agent portal",
  "Arrears management",
  "Branch terminals",
  "Broker portal",
  "Business intelligence",
  "Call centre",
  "Claims handling",
  "Claims intake",
  "Collateral register",
  "Compliance checks",
  "Consent register",
  "Contract archive",
  "Core banking",
  "Credit decisions",
  "Credit scoring",
  "Crop cover quotes",
  "Customer onboarding",
  "Customer records",
  "Data warehouse",
  "Document archive",
  "Farm loan desk",
  "Field officer tools",
  "Fraud screening",
  "Identity checks",
  "Integration tests",
  "Internal audit",
  "Lending workbench",
  "Livestock cover",
  "Loan origination",
  "Loan servicing",
  "Monitoring",
  "Partner gateway",
  "Policy administration",
  "Portfolio review",
  "Premium calculation",
  "Regional offices",
  "Renewals",
  "Reporting",
  "Risk model",
  "Seasonal credit",
  "Subsidy matching",
  "Underwriting",
  "Weather index cover",
] as const;

const qualifiers = [
  "staging",
  "acceptance",
  "training",
  "nightly batch",
  "failover",
  "second site",
  "north region",
  "south region",
  "pilot",
  "new platform",
] as const;

/**
 * Invents the name that an administrator of a bank or insurer could give to a key.
 *
 * @example
 * inventKeyName(1, "active"); // the same name in every process
 */
export function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const system = pick(draw, systems);
  // Most keys are named after their system alone; one in three says which of its installations is meant.
  const qualified = pick(draw, [true, false, false]);
  return qualified ? `${system}, ${pick(draw, qualifiers)}` : system;
}
