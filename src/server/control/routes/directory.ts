import { keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/keys/key-text.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { viewKey, viewOrganization } from "../../../sandbox/views.js";
import * as s from "../../../schema/shape.js";
import type { Route } from "../route.js";
import { dataRoute } from "../route.js";
import { withNextRequest } from "./shared.js";

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

/** An organization to list: with its keys that match, or without any key. */
interface MatchingSection {
  readonly owner: OrganizationEntry;
  readonly keys: readonly KeyEntry[];
}

/** Lists the sections that match, up to the limit. `matching` and `total` count keys; `left` is the size of what is left out. */
function directoryOf(sandbox: SandboxState, words: readonly string[], limit: number) {
  const now = sandbox.clock.now();
  const sections = [];
  let listed = 0;
  let matching = 0;
  let left = 0;
  for (const section of matchingSections(sandbox, words, now)) {
    const { owner, keys } = section;
    // An organization without keys takes as much of the limit as a key.
    const size = Math.max(1, keys.length);
    const listedSize = Math.min(size, limit - listed);
    if (listedSize > 0) sections.push(viewSection(sandbox, owner, keys.slice(0, listedSize), now));
    listed += listedSize;
    left += size - listedSize;
    matching += keys.length;
  }
  return { sections, matching, total: sandbox.registry.keys.size, left };
}

/** The organizations with keys that match, and those without keys that match. */
function matchingSections(
  sandbox: SandboxState,
  words: readonly string[],
  now: number,
): readonly MatchingSection[] {
  const sections: MatchingSection[] = [];
  for (const owner of sandbox.registry.organizations.values()) {
    const isEmpty = owner.keys.length === 0;
    const keys = isEmpty ? [] : keysWithWords(words, owner, sandbox, now);
    const isListed = isEmpty ? hasAll(words, organizationText(owner, sandbox)) : keys.length > 0;
    if (isListed) sections.push({ owner, keys });
  }
  return sections;
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

/** An organization with some of its keys, as the response has it. */
function viewSection(
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
