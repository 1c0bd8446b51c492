import { type InJson, snake } from "./schema/json.js";
import type { Fields, MappingKind, Shape, Traits, ValueOf } from "./schema/shape.js";
import * as s from "./schema/shape.js";

interface OrganizationMember {
  readonly shape: Shape;
  /** What it is if a scenario leaves it out; `undefined` if each scenario must have it. */
  readonly usual: unknown;
  readonly isChangeable: boolean;
}

/** The members of an organization, besides its ref, id and name. Scenarios, bodies and JSON spell them in snake_case. */
export const organizationTable = {
  type: { shape: s.choice(["bank", "insurer"]), usual: undefined, isChangeable: false },
  /** Whether the organization as a whole may use the API (R18). */
  status: { shape: s.choice(["active", "inactive"]), usual: "active", isChangeable: true },
  /** Whether test keys can be created (R30). */
  sandboxAccess: { shape: s.flag(), usual: true, isChangeable: true },
  /** Whether live keys can be created (R31), and work (R19). */
  liveAccess: {
    shape: s.choice(["not_approved", "approved", "suspended"]),
    usual: "not_approved",
    isChangeable: true,
  },
} as const satisfies Readonly<Record<string, OrganizationMember>>;

type Table = typeof organizationTable;
// Mapped, because each member has the type of its row.
type Members = { readonly [Name in keyof Table]: ValueOf<Table[Name]["shape"]> };
type Changeable = {
  readonly [Name in keyof Table as Table[Name]["isChangeable"] extends true ? Name : never]?: Members[Name];
};
type WrittenMembers = { readonly [Name in keyof InJson<Members>]?: InJson<Members>[Name] | undefined };

export type OrganizationType = Members["type"];

/** A relying party. Records never change in place: an update is a new record with the same ref. */
export interface Organization extends Members {
  readonly ref: string;
  readonly id: string;
  readonly name: string;
}

/** A change to an organization. */
export interface OrganizationUpdate extends Changeable {}

const rows = Object.entries<OrganizationMember>(organizationTable).map(([name, row]) => ({ name, ...row }));

/** The members in a scenario. */
export const organizationFields: Fields = Object.fromEntries(
  rows.map(({ name, shape, usual }) => [snake(name), usual === undefined ? shape : s.optional(shape)]),
);

/** The body of a change, and its part of a step. */
export const organizationChange = s.mapping(
  Object.fromEntries(
    rows.flatMap(({ name, shape, isChangeable }) => (isChangeable ? [[snake(name), s.optional(shape)]] : [])),
  ),
  // The names are computed, so their type is stated.
) as MappingKind &
  Traits<{ readonly [Name in keyof InJson<Changeable>]?: InJson<Changeable>[Name] | undefined }>;

/** The members in a view. */
export const organizationViewFields = Object.fromEntries(rows.map(({ name, shape }) => [name, shape])) as {
  readonly [Name in keyof Table]: Table[Name]["shape"];
};

const usualMembers = Object.fromEntries(rows.map(({ name, usual }) => [name, usual]));

/** Reads the members that a scenario or a change has; any other one is as before. Default: as if a scenario leaves it out. */
export function readMembers(written: WrittenMembers, before: Partial<Members> = usualMembers): Members {
  const given = written as Readonly<Record<string, unknown>>;
  const otherwise = before as Readonly<Record<string, unknown>>;
  // Each value has the type of its row: the shapes have checked what was written.
  return Object.fromEntries(
    rows.map(({ name }) => [name, given[snake(name)] ?? otherwise[name]]),
  ) as unknown as Members;
}

/** The members as a scenario has them. */
export function writeMembers(organization: Organization): InJson<Members> {
  const members = organization as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    rows.map(({ name }) => [snake(name), members[name]]),
  ) as unknown as InJson<Members>;
}
