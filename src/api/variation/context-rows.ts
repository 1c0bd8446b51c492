import { type Draft, type Variant, type VariationRow, withMembers } from "./row.js";

const data = ({ data }: Draft["body"]) => data;
const limits = ({ data }: Draft["body"]) => data?.limits;
const usage = ({ data }: Draft["body"]) => data?.usage;

/** The rows of what a 200 says. The top level and `data.organization` have exactly the members that are named (R1, R2). */
export const contextRows: readonly VariationRow[] = [
  {
    id: "data_members",
    gap: "Whether data gets further members is not stated; the compatibility policy is not shown.",
    statuses: [200],
    variants: [
      none("The first release."),
      withMembers(data, "text", { region: "north" }, "A later release adds a member."),
      withMembers(
        data,
        "nothing",
        { contact: null },
        "A later release adds a member that is not filled in yet.",
      ),
      withMembers(
        data,
        "nested",
        { support: { channels: [{ kind: "email", hours: { from: 8, to: 17 } }], priority: false } },
        "A later release adds objects within objects.",
      ),
      withMembers(
        data,
        "many",
        Object.fromEntries(
          Array.from({ length: 12 }, (_, index) => [`feature_${index + 1}`, index % 2 === 0]),
        ),
        "Switches of features pile up.",
      ),
    ],
  },
  {
    id: "limits_members",
    gap: "Whether there are further limits is not stated.",
    statuses: [200],
    variants: [
      none("Only the two that are named."),
      withMembers(limits, "another_window", { per_hour: 600 }, "There is a limit for every hour, too."),
      withMembers(
        limits,
        "unlimited",
        { per_month: null },
        "There is no limit for the month, and the answer says so.",
      ),
      withMembers(
        limits,
        "burst",
        { burst: { size: 10, refill_seconds: 1.5 } },
        "The gateway allows short bursts.",
      ),
    ],
  },
  {
    id: "usage_members",
    gap: "Whether further usage is reported is not stated.",
    statuses: [200],
    variants: [
      none("Only the one that is named."),
      withMembers(usage, "another_window", { this_month: 31_415 }, "The month is reported, too."),
      withMembers(usage, "time", { counted_since: "2026-01-01T00:00:00Z" }, "It says since when it counts."),
      withMembers(usage, "by_endpoint", { by_endpoint: { me: 1 } }, "It is broken down for dashboards."),
    ],
  },
  {
    id: "scopes",
    gap: "The complete list of scope names is not shown.",
    statuses: [200],
    fixedBy: "scopes",
    variants: [
      { id: "known", why: "There are no others yet." },
      granting("one_more", ["parcels:read"], "A new endpoint brings a scope that administrators granted."),
      granting(
        "many_more",
        ["attestations:read:self", "webhooks:manage", "consents.export"],
        "Scopes of several generations are spelled in several ways.",
      ),
      granting("everything", ["*"], "A key of an early customer has a wildcard beside its scopes."),
    ],
  },
  {
    id: "scope_order",
    gap: "The order of the scopes is not stated.",
    statuses: [200],
    variants: [
      { id: "as_granted", why: "They come from a list." },
      {
        id: "reversed",
        why: "The latest one comes first.",
        change: ({ body }) => void body.data?.scopes.reverse(),
      },
      {
        id: "sorted",
        why: "They come from a set that is sorted.",
        change: ({ body }) => void body.data?.scopes.sort(),
      },
    ],
  },
  {
    id: "organization_name",
    gap: "The name is free text. What the scenario calls the organization stays at its beginning.",
    statuses: [200],
    variants: [
      { id: "as_given", why: "The name is plain." },
      named(
        "accents",
        " – Société Générale d’Épargne & Fils",
        "Names have accents, dashes and curly quotes.",
      ),
      named(
        "decomposed",
        " Cafe\u0301 A\u030angstro\u0308m",
        "Letters and their accents come as two characters.",
      ),
      named("another_script", " بنك الحصاد 收穫銀行", "Names are written in several scripts and directions."),
      named("beyond_16_bits", " 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃", "Characters of four bytes in UTF-8."),
      named("markup", " <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s", "Whoever shows a name has to escape it."),
      named("long", ` ${"of the United Valleys ".repeat(12).trim()}`, "Registered names can be long."),
    ],
  },
];

function none(why: string): Variant {
  return { id: "none", why };
}

function granting(id: string, scopes: readonly string[], why: string): Variant {
  return { id, why, change: ({ body }) => void body.data?.scopes.push(...scopes) };
}

function named(id: string, addition: string, why: string): Variant {
  return {
    id,
    why,
    change({ body }) {
      if (body.data !== undefined) body.data.organization.name += addition;
    },
  };
}
