import { nextRequest } from "../../api/evaluate.js";
import type { KeyEntry, OrganizationEntry } from "../../sandbox/registry.js";
import type { KeyView } from "../../sandbox/view-shapes.js";
import { viewKey, viewOrganization } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";
import { fingerprintOf, type KeyState, keyStateAt } from "../../spec/api-key.js";

/** The keys to list. By default, lists all keys, and also organizations without a key. */
interface DirectoryQuery {
  /** Words that the key or its organization must contain, each of them. */
  readonly filter?: string | undefined;
  readonly state?: KeyState | undefined;
  /** Counted from 1. */
  readonly page?: number | undefined;
}

/** Adds the result of a key's next request. */
export function withNextRequest(key: KeyView, world: World) {
  return { ...key, nextRequest: nextRequest(world, key.ref) };
}

interface Row {
  readonly holder: OrganizationEntry;
  /** Left out if the organization has no key. */
  readonly entry?: KeyEntry;
  /** The index among the listed keys of its organization. */
  readonly place: number;
}

const rowsOnAPage = 50;

/** Lists organizations with their keys in pages of fifty rows; an organization without a key also takes a row. */
export function directoryOf(world: World, { filter = "", state, page: wanted = 1 }: DirectoryQuery) {
  const now = world.clock.now();
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const isChosen = ({ key, holder }: KeyEntry) =>
    (state === undefined || keyStateAt(key, now) === state) &&
    (words.length === 0 || includesAll(`${textOf(holder, key)} ${keyStateAt(key, now)}`, words));
  const listsEmpty = words.length === 0 && state === undefined;
  const rows = [...world.registry.organizations.values()].flatMap((holder): Row[] => {
    if (holder.keys.length === 0) return listsEmpty ? [{ holder, place: 0 }] : [];
    return holder.keys.filter(isChosen).map((entry, place) => ({ holder, entry, place }));
  });
  const pages = Math.max(1, Math.ceil(rows.length / rowsOnAPage));
  const page = Math.min(Math.max(1, wanted), pages);
  const start = (page - 1) * rowsOnAPage;
  const shown = rows.slice(start, start + rowsOnAPage);
  const keysIn = (some: readonly Row[]) => some.filter(({ entry }) => entry !== undefined).length;
  const before = keysIn(rows.slice(0, start));
  return {
    sections: [...new Set(shown.map(({ holder }) => holder))].map((holder) => {
      const own = shown.filter((row) => row.holder === holder);
      return {
        organization: viewOrganization(holder.organization),
        active: activeIn(holder, now),
        isContinued: (own[0]?.place ?? 0) > 0,
        keys: own.flatMap(({ entry }) =>
          entry === undefined ? [] : withNextRequest(viewKey(entry, world), world),
        ),
      };
    }),
    ...{ first: before + 1, last: before + keysIn(shown) },
    ...{ matching: keysIn(rows), total: world.registry.keys.size, page, pages },
  };
}

function textOf({ organization }: OrganizationEntry, key: KeyEntry["key"]): string {
  const { ref, name, environment, scopes, sha256 } = key;
  const own = [ref, name, fingerprintOf(sha256), environment, ...scopes];
  return [organization.ref, organization.name, ...own].join(" ").toLowerCase();
}

function includesAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

function activeIn(
  { keys }: OrganizationEntry,
  now: number,
): { readonly test: number; readonly live: number } {
  const active = keys.filter(({ key }) => keyStateAt(key, now) === "active");
  const test = active.filter(({ key }) => key.environment === "test").length;
  return { test, live: active.length - test };
}
