import { keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/key-text.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { viewKey, viewOrganization } from "../../../sandbox/views.js";
import * as s from "../../../schema/shape.js";
import { dataRoute, type Route } from "../route.js";
import { withNextRequest } from "./next-request.js";

/** The limit of a call that sets none. */
const defaultLimit = 200;

export const directoryRoute: Route = dataRoute("GET /directory", {
  summary: "The organizations with their keys; `filter` matches words in keys or organizations",
  query: s.mapping({
    filter: s.optional(
      s.described(s.text(), "Words that the key, its state or its organization must contain. Default: none."),
    ),
    limit: s.optional(
      s.described(
        s.integer({ min: 1 }),
        `At most this many keys, and organizations without keys. Default: ${defaultLimit}.`,
      ),
    ),
  }),
  run({ sandbox, query }) {
    const { filter = "", limit = defaultLimit } = query;
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return directoryOf(sandbox, words, limit);
  },
});

/**
 * Lists the keys that match, with their organizations, and the organizations without keys that match: up to the limit together. `left`
 * is how many of both it leaves out; `matching` and `total` are only of keys.
 */
function directoryOf(sandbox: SandboxState, words: readonly string[], limit: number) {
  const now = sandbox.clock.now();
  const sections = [];
  let room = limit;
  let matching = 0;
  let left = 0;
  for (const owner of sandbox.registry.organizations.values()) {
    const isEmpty = owner.keys.length === 0;
    if (isEmpty && !hasAll(words, organizationText(owner, sandbox))) continue;

    const matches = isEmpty ? [] : keysWithWords(words, owner, sandbox, now);
    // An organization without keys takes as much room as a key.
    const needed = isEmpty ? 1 : matches.length;
    const taken = Math.min(needed, room);
    room -= taken;
    left += needed - taken;
    matching += matches.length;
    if (taken > 0) sections.push(directorySection(sandbox, owner, matches.slice(0, taken), now));
  }
  return { sections, matching, total: sandbox.registry.keys.size, left };
}

/** The keys of an organization that have all words. */
function keysWithWords(
  words: readonly string[],
  owner: OrganizationEntry,
  sandbox: SandboxState,
  now: number,
): readonly KeyEntry[] {
  // Without a filter, no key is looked at that is not listed.
  if (words.length === 0) return owner.keys;
  return owner.keys.filter((entry) => hasAll(words, searchedText(entry, sandbox, now)));
}

/** An organization with the keys to list. */
function directorySection(
  sandbox: SandboxState,
  owner: OrganizationEntry,
  keys: readonly KeyEntry[],
  now: number,
) {
  const activeIn = (environment: Environment) => activeKeysIn(owner, environment, sandbox.assumptions, now);
  return {
    organization: viewOrganization(owner.organization, sandbox),
    active: { test: activeIn("test"), live: activeIn("live") },
    keys: keys.map((entry) => withNextRequest(viewKey(entry, sandbox), sandbox)),
  };
}

/** Whether a text has all words, in any letter case. The words are in lower case. */
function hasAll(words: readonly string[], text: string): boolean {
  const inLowerCase = text.toLowerCase();
  return words.every((word) => inLowerCase.includes(word));
}

/** What a filter finds a key by. */
function searchedText({ key, owner }: KeyEntry, sandbox: SandboxState, now: number): string {
  const fingerprint = fingerprintOf(key.sha256);
  const state = keyStateAt(key, now);
  const words = [key.ref, key.name, fingerprint, key.environment, ...key.scopes];
  words.push(...sandbox.additions.scopes, state);
  return `${organizationText(owner, sandbox)} ${words.join(" ")}`;
}

/** What a filter finds an organization by. */
function organizationText({ organization }: OrganizationEntry, { additions }: SandboxState): string {
  return `${organization.ref} ${organization.name}${additions.nameEnding}`;
}
