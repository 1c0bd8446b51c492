import {
  consentParties,
  consentStatuses,
  permissions,
  productionStatuses,
  purposeCodes,
  validityStatuses,
} from "../../spec/consent.js";
import {
  always,
  choice,
  count,
  instant,
  list,
  mapping,
  nullable,
  text,
  type ValueOf,
} from "../../spec/schema/shape.js";

// Apart from the views: pages leave it out.

export const consentShape = mapping({
  id: text(),
  /** The ref of the requesting organization. */
  organization: text(),
  farmerId: text(),
  synthetic: always(true),
  /** The index of the farmer. */
  farmer: count(),
  status: choice(consentStatuses),
  purpose: mapping({ code: choice(purposeCodes), text: text() }),
  permissions: list(choice(permissions)),
  createdAt: instant(),
  respondBy: instant(),
  expiresAt: instant(),
  history: list(mapping({ status: choice(consentStatuses), at: instant(), by: choice(consentParties) })),
  /** Empty until it is granted. */
  attestations: list(
    mapping({
      id: text(),
      type: choice(permissions),
      production: choice(productionStatuses),
      validity: nullable(choice(validityStatuses)),
    }),
  ),
});
/** A consent request in lists. Times are ISO 8601. */
export interface ConsentView extends ValueOf<typeof consentShape> {}
