import * as s from "../schema/shape.js";

// What an organization may do is its access: three members that an administrator can change. They are here as:
//
//   Access              all three in a record or a view: `liveAccess`
//   OrganizationUpdate  any of them, as the library takes a change: `liveAccess`
//   organizationChange  any of them, as scenarios, bodies and steps have a change: `live_access`
//
// `readAccess` makes the first of the last.

const statusChoice = s.choice(["active", "inactive"]);
const liveAccessChoice = s.choice(["not_approved", "approved", "suspended"]);

/** What an organization may do. */
interface Access {
  /** Whether the organization as a whole may use the API (R18). */
  readonly status: s.ValueOf<typeof statusChoice>;
  /** Whether test keys can be created (R30). */
  readonly sandboxAccess: boolean;
  /** Whether live keys can be created (R31), and work (R19). */
  readonly liveAccess: s.ValueOf<typeof liveAccessChoice>;
}

/** The members in a view, besides its ref, id and name. */
export const organizationViewFields = {
  type: s.choice(["bank", "insurer"]),
  status: statusChoice,
  sandboxAccess: s.flag(),
  liveAccess: liveAccessChoice,
};

/** A relying party. Records never change in place: an update is a new record with the same ref. */
export interface Organization extends Access {
  readonly ref: string;
  readonly id: string;
  readonly name: string;
  readonly type: s.ValueOf<typeof organizationViewFields.type>;
}

/** A change of an organization's access, as the library takes it. */
export interface OrganizationUpdate extends Partial<Access> {}

/** A change of an organization's access, as a scenario, a body or a step has it. */
export const organizationChange = s.mapping({
  status: s.optional(statusChoice),
  sandbox_access: s.optional(s.flag()),
  live_access: s.optional(liveAccessChoice),
});

/** The access of an organization for which its scenario sets none. */
const usualAccess: Access = { status: "active", sandboxAccess: true, liveAccess: "not_approved" };

/** The access that a scenario or a change sets. What it leaves out is as in `current`; default: the usual access. */
export function readAccess(
  fields: s.ValueOf<typeof organizationChange>,
  current: Access = usualAccess,
): Access {
  return {
    status: fields.status ?? current.status,
    sandboxAccess: fields.sandbox_access ?? current.sandboxAccess,
    liveAccess: fields.live_access ?? current.liveAccess,
  };
}
