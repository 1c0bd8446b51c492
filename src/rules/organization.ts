import * as s from "../schema/shape.js";

/** The fields of `Access`. */
const accessFields = {
  /** Whether the organization as a whole may use the API (R18). */
  status: s.choice(["active", "inactive"]),
  /** Whether test keys can be created (R30). */
  sandboxAccess: s.flag(),
  /** Whether live keys can be created (R31), and work (R19). */
  liveAccess: s.choice(["not_approved", "approved", "suspended"]),
};
const accessShape = s.mapping(accessFields);
/** What an organization may do: an administrator can change it. */
type Access = s.ValueOf<typeof accessShape>;

/** The members in a view, besides its ref, id and name. */
export const organizationViewFields = { type: s.choice(["bank", "insurer"]), ...accessFields };

/** A relying party. Records never change in place: an update is a new record with the same ref. */
export interface Organization extends Access {
  readonly ref: string;
  readonly id: string;
  readonly name: string;
  readonly type: s.ValueOf<typeof organizationViewFields.type>;
}

/** A change to an organization. */
export interface OrganizationUpdate extends Partial<Access> {}

/** The body of a change, and its part of a step: scenarios, bodies and JSON spell names in snake_case. */
export const organizationChange = s.mapping({
  status: s.optional(accessFields.status),
  sandbox_access: s.optional(accessFields.sandboxAccess),
  live_access: s.optional(accessFields.liveAccess),
});

type WrittenAccess = s.ValueOf<typeof organizationChange>;

/** The words for people of the members and values that have a `_`. */
const accessWords: Readonly<Record<string, string>> = {
  sandbox_access: "sandbox access",
  live_access: "live access",
  not_approved: "not approved",
};

/** A member or a value of `Access` in words. */
export function accessInWords(name: string): string {
  return accessWords[name] ?? name;
}

/** The access of an organization whose scenario says nothing of it. */
const usualAccess: Access = { status: "active", sandboxAccess: true, liveAccess: "not_approved" };

/** The access that a scenario or a change sets; what it leaves out is as before, and as usual without a before. */
export function readAccess(fields: WrittenAccess, before: Access = usualAccess): Access {
  return {
    status: fields.status ?? before.status,
    sandboxAccess: fields.sandbox_access ?? before.sandboxAccess,
    liveAccess: fields.live_access ?? before.liveAccess,
  };
}
