/** The two kinds of relying party (R2). */
export const organizationTypes = ["bank", "insurer"] as const;
export type OrganizationType = (typeof organizationTypes)[number];

/** Whether the organization as a whole may use the API (R18). */
export const organizationStatuses = ["active", "inactive"] as const;
export type OrganizationStatus = (typeof organizationStatuses)[number];

/** The states of live access (R19, R20). */
export const liveAccessStates = ["not_approved", "approved", "suspended"] as const;
export type LiveAccess = (typeof liveAccessStates)[number];

/** A relying party. Records never change in place: an update is a new record with the same ref. */
export interface Organization {
  readonly ref: string;
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly type: OrganizationType;
  readonly status: OrganizationStatus;
  readonly sandboxAccess: boolean;
  readonly liveAccess: LiveAccess;
}
