import { lifelines } from "../../../api/lifelines.js";
import { nextRequest } from "../../../api/next-request.js";
import { keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/keys/key-text.js";
import type { Endpoint } from "../../../sandbox/call.js";
import { sentKeyRef } from "../../../sandbox/journal/exchange.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { viewKey, viewOrganization } from "../../../sandbox/views.js";
import * as s from "../../../schema/shape.js";
import type { Route } from "../route.js";
import { dataRoute } from "../route.js";
import { keysOfStory } from "./story.js";

// Keys as people look for them: by their organizations, and their lives.

/** The limit of a directory that sets none. */
const defaultLimit = 200;

/** The limit of lifelines that sets none: each costs as much as several requests. */
const defaultLines = 100;

const filterField = s.optional(
  s.described(s.text(), "Words that the key, its state or its organization must contain. Default: none."),
);

const directoryRoute: Route = dataRoute("GET /directory", {
  summary: "The organizations with their keys; `filter` matches words in keys or organizations",
  query: s.mapping({
    filter: filterField,
    limit: s.optional(
      s.described(
        s.integer({ min: 1 }),
        `At most this many keys, and organizations without keys. Default: ${defaultLimit}.`,
      ),
    ),
  }),
  run({ sandbox, query }) {
    const { filter = "", limit = defaultLimit } = query;
    return directoryOf(sandbox, filterWords(filter), limit);
  },
});

const filterWords = (filter: string) => filter.toLowerCase().split(/\s+/).filter(Boolean);

const lifelinesRoute: Route = dataRoute("GET /lifelines", {
  summary: "The phases of each key: the outcomes that it got, and will get",
  query: s.mapping({
    organization: s.optional(s.described(s.text(), "Only the keys of this one. Default: of all.")),
    key: s.optional(s.described(s.text(), "Only this key. Default: all.")),
    filter: filterField,
    story: s.optional(s.described(s.flag(), "Whether only the keys that the story uses. Default: false.")),
    limit: s.optional(
      s.described(
        s.integer({ min: 1, max: 1000 }),
        `At most this many keys: those that were used last, then those that end. Default: ${defaultLines}.`,
      ),
    ),
  }),
  run({ sandbox, query }) {
    const { organization, key, filter = "", story = false, limit = defaultLines } = query;
    const storyKeys = story ? new Set(keysOfStory(sandbox)) : undefined;
    // Unknown ones are an error.
    if (organization !== undefined) sandbox.registry.organization(organization);
    if (key !== undefined) sandbox.registry.key(key);

    const now = sandbox.clock.now();
    const matching: KeyEntry[] = [];
    for (const section of matchingSections(sandbox, filterWords(filter), now)) {
      if (organization !== undefined && section.owner.organization.ref !== organization) continue;
      for (const entry of section.keys) {
        const { ref } = entry.key;
        const isWanted = (key === undefined || ref === key) && (storyKeys?.has(ref) ?? true);
        if (isWanted) matching.push(entry);
      }
    }
    const chosen = chooseLines(sandbox, matching, limit);
    return { lifelines: lifelines(sandbox, chosen), left: matching.length - chosen.length };
  },
});

export const directoryRoutes: readonly Route[] = [directoryRoute, lifelinesRoute];

/** At most so many of the keys, in their order: those that were used last, then those that end. */
function chooseLines(sandbox: SandboxState, keys: readonly KeyEntry[], limit: number): readonly KeyEntry[] {
  if (keys.length <= limit) return keys;
  const uses = new Map<string, number>();
  for (const [index, exchange] of sandbox.journal.requests().entries()) uses.set(sentKeyRef(exchange), index);

  const used: KeyEntry[] = [];
  const ending: KeyEntry[] = [];
  const others: KeyEntry[] = [];
  for (const entry of keys) {
    const { ref, revokedAt, expiresAt, overlapEndsAt } = entry.key;
    if (uses.has(ref)) used.push(entry);
    else if ((revokedAt ?? expiresAt ?? overlapEndsAt) !== undefined) ending.push(entry);
    else others.push(entry);
  }
  const lastUse = ({ key }: KeyEntry) => uses.get(key.ref) ?? 0;
  used.sort((one, other) => lastUse(other) - lastUse(one));
  const chosen = new Set([...used, ...ending, ...others].slice(0, limit));
  return keys.filter((entry) => chosen.has(entry));
}

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

/** Adds the result of a key's next request. */
export function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  return { ...key, nextRequest: nextRequest(sandbox, key.ref, endpoint) };
}
