import { endpointNamed } from "../../../api/endpoints.js";
import { nextRequest } from "../../../api/next-request.js";
import { cachedByObject } from "../../../rules/cached-by.js";
import { SandboxError } from "../../../rules/errors.js";
import { keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/keys/key-text.js";
import type { Endpoint } from "../../../sandbox/call.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import { operations } from "../../../sandbox/operations/operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { fingerprintOfRef, secretToSend } from "../../../sandbox/secrets.js";
import { viewKey, viewKeys, viewOrganization, viewOrganizations } from "../../../sandbox/views.js";
import { isReserved } from "../../../scenario/format/fields.js";
import { allKeys } from "../../../scenario/keys.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import * as s from "../../../schema/shape.js";
import { membersToSnakeCase } from "../../../schema/spelling.js";
import { quote } from "../../../schema/words.js";
import type { Route } from "../route.js";
import { controlRoute, dataRoute, pageFields, refInBody } from "../route.js";

/** The keys of a page if a call sets no limit: more would delay everybody's requests. */
const keysOnAPage = 1000;

/** The keys of the directory if a call sets no limit. */
const keysInDirectory = 200;

export const keyRoutes: readonly Route[] = [
  controlRoute("GET /organizations", {
    summary: "The organizations, in the scenario's order",
    query: s.mapping(pageFields("all")),
    run({ sandbox, query }) {
      const data = membersToSnakeCase(viewOrganizations(sandbox, query));
      return { kind: "json", status: 200, json: { data, total: sandbox.registry.organizations.size } };
    },
  }),
  dataRoute("GET /organizations/{ref}", {
    summary: "One organization",
    run: ({ sandbox, params }) =>
      viewOrganization(sandbox.registry.organization(params.ref).organization, sandbox),
  }),
  dataRoute("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    run: ({ sandbox, params, body }) =>
      operations.organization(sandbox, { ...body, ref: params.ref }).organization,
  }),
  controlRoute("GET /keys", {
    summary:
      "The keys, each with the result of its next request; `created` counts the keys made since the start",
    query: s.mapping(pageFields(keysOnAPage)),
    run({ sandbox, query }) {
      const { offset, limit = keysOnAPage } = query;
      const page = viewKeys(sandbox, { offset, limit });
      const data = membersToSnakeCase(page.map((key) => withNextRequest(key, sandbox)));
      const total = sandbox.registry.keys.size;
      const created = total - keysInScenario(sandbox.scenario);
      return { kind: "json", status: 200, json: { data, total, created } };
    },
  }),
  dataRoute("GET /directory", {
    summary: "The organizations with their keys; `filter` matches words in keys or organizations",
    query: s.mapping({
      filter: s.optional(
        s.described(
          s.text(),
          "Words that the key, its state or its organization must contain. Default: none.",
        ),
      ),
      limit: s.optional(
        s.described(
          s.integer({ min: 1 }),
          `At most this many keys, and organizations without keys. Default: ${keysInDirectory}.`,
        ),
      ),
    }),
    run({ sandbox, query }) {
      const { filter = "", limit = keysInDirectory } = query;
      const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
      return directoryOf(sandbox, words, limit);
    },
  }),
  dataRoute("POST /keys", {
    summary: "Creates a key; only this response has its secret",
    status: 201,
    body: "key_creation",
    run: ({ sandbox, body }) => refInBody("organization", () => operations.create_key(sandbox, body)),
  }),
  dataRoute("GET /keys/{ref}", {
    summary:
      "One key, with the result of its next request; `ref` may also be `none`, `malformed` or `unknown`",
    query: s.mapping({
      endpoint: s.optional(
        s.described(s.text(), "The operation id of that request's endpoint. Default: that of `/me`."),
      ),
    }),
    run({ sandbox, params, query }) {
      const { ref } = params;
      // The sandbox has no key with a reserved ref, such as `none`.
      const key = isReserved(ref)
        ? { ref, fingerprint: fingerprintOfRef(sandbox, ref) }
        : viewKey(sandbox.registry.key(ref), sandbox);
      return withNextRequest(key, sandbox, endpointNamed(sandbox, query.endpoint));
    },
  }),
  dataRoute("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    status: 201,
    body: "key_rotation",
    run({ sandbox, params, body }) {
      const { replacement, secret } = operations.rotate(sandbox, { ...body, key: params.ref });
      return { key: replacement, secret };
    },
  }),
  dataRoute("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    run: ({ sandbox, params }) => operations.revoke(sandbox, { key: params.ref }),
  }),
  dataRoute("POST /keys/{ref}/secret", {
    summary: "The secret of a key that the seed made; `ref` may also be `unknown` or `malformed`",
    changes: false,
    run: ({ sandbox, params }) => ({ secret: seededSecret(sandbox, params.ref) }),
  }),
  dataRoute("POST /keys/{ref}/expire", {
    summary: "Sets when a key expires: an active one, or a replaced one in its overlap",
    body: "key_expiry",
    run: ({ sandbox, params, body }) => operations.expire(sandbox, { ...body, key: params.ref }),
  }),
];

/** The number of keys in a scenario. Cached, because the dashboard asks each second. */
const keysInScenario = cachedByObject((scenario: Scenario) => [...allKeys(scenario)].length);

/** The secret of a key, which everybody who has the seed can compute. A pinned one is the user's own, and stays hidden. */
function seededSecret(sandbox: SandboxState, ref: string): string {
  const secret = secretToSend(sandbox, ref);

  for (const { keys } of Object.values(sandbox.scenario.organizations ?? {})) {
    const isPinned = keys?.[ref]?.secret === secret;
    if (!isPinned) continue;
    const message = `The secret of ${quote(ref)} is in its scenario, and not shown here.`;
    throw new SandboxError("secret_not_kept", message, { ref });
  }
  return secret;
}

/** Adds the result of a key's next request. */
export function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  return { ...key, nextRequest: nextRequest(sandbox, key.ref, endpoint) };
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
