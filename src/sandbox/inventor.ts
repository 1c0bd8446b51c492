import type { OrganizationType } from "../domain/organization.js";

/**
 * Invents the names that a scenario leaves out, each from the seed and its own ref.
 *
 * Comes in from the edge, because inventing an organization's name loads a large library.
 */
export interface Inventor {
  readonly organizationName: (seed: number, ref: string, type: OrganizationType) => string;
  readonly keyName: (seed: number, ref: string) => string;
}
