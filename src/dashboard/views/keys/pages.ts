import type { Key, Organization } from "../../control/answers.js";

/** An organization with those of its keys that stand on a page. */
export interface Section {
  readonly organization: Organization;
  readonly keys: readonly Key[];
  /** The numbers of its active keys (R32), whether they stand on the page or not. */
  readonly active: { readonly test: number; readonly live: number };
  /** Whether it began on the page before. */
  readonly isContinued: boolean;
}

/** A page of organizations and keys, and how much there is. */
export interface Page {
  readonly sections: readonly Section[];
  readonly first: number;
  readonly last: number;
  /** The number of keys that match the filter. */
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
}

/** The filter of keys: each word stands in the key or its organization. */
export interface KeyFilter {
  readonly text: string;
  readonly state: string;
  /** Whether all keys are here: otherwise an organization without any may have some. */
  readonly isWhole: boolean;
}

const pageSize = 50;

/** Cuts organizations with their keys into pages of fifty rows; those without a key take one row. */
export function pageOf(
  organizations: readonly Organization[],
  keys: readonly Key[],
  { text, state, isWhole }: KeyFilter,
  wantedPage: number,
): Page {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isFiltered = words.length > 0 || state !== "";
  const byOrganization = groupBy(keys, ({ organization }) => organization);
  const rows = organizations.flatMap((organization) => {
    const own = byOrganization.get(organization.ref) ?? [];
    const holder = `${organization.ref} ${organization.name}`;
    const matching = own.filter(
      (key) => (state === "" || key.state === state) && matches(holder, key, words),
    );
    const hasRow = matching.length > 0 || (isWhole && !isFiltered && own.length === 0);
    return hasRow
      ? (matching.length > 0 ? matching : [undefined]).map((key, place) => ({ organization, key, place }))
      : [];
  });
  const pages = Math.max(1, Math.ceil(rows.length / pageSize));
  const page = Math.min(Math.max(1, wantedPage), pages);
  const start = (page - 1) * pageSize;
  const shown = rows.slice(start, start + pageSize);
  const keysIn = (some: typeof rows) => some.filter(({ key }) => key !== undefined).length;
  const before = keysIn(rows.slice(0, start));
  return {
    sections: [...groupBy(shown, ({ organization }) => organization)].map(([organization, own]) => ({
      organization,
      keys: own.flatMap(({ key }) => key ?? []),
      active: activeOf(byOrganization.get(organization.ref) ?? []),
      isContinued: (own[0]?.place ?? 0) > 0,
    })),
    first: before + 1,
    last: before + keysIn(shown),
    matching: keysIn(rows),
    page,
    pages,
  };
}

function matches(holder: string, key: Key, words: readonly string[]): boolean {
  const { ref, name, fingerprint, environment, state, scopes } = key;
  const text =
    `${holder} ${ref} ${name} ${fingerprint} ${environment} ${state} ${scopes.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function activeOf(keys: readonly Key[]): Section["active"] {
  const count = (wanted: Key["environment"]) =>
    keys.filter(({ environment, state }) => environment === wanted && state === "active").length;
  return { test: count("test"), live: count("live") };
}

// `Map.groupBy`, which younger browsers have.
function groupBy<Item, Group>(items: readonly Item[], groupOf: (item: Item) => Group): Map<Group, Item[]> {
  const groups = new Map<Group, Item[]>();
  for (const item of items) {
    const group = groups.get(groupOf(item));
    if (group === undefined) groups.set(groupOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
