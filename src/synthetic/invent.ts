import type { OrganizationType } from "../domain/organization.js";
import { inventKeyName } from "./key-names.js";
import { inventOrganizationName } from "./organization-names.js";

/** Invents the names that a scenario leaves out, each from the seed and its own ref. */
export interface Inventor {
  readonly organizationName: (seed: number, ref: string, type: OrganizationType) => string;
  readonly keyName: (seed: number, ref: string) => string;
}

/** The inventor of the shipped product. Importing it loads faker: do so only when there is a name to invent. */
export const inventor: Inventor = { organizationName: inventOrganizationName, keyName: inventKeyName };
