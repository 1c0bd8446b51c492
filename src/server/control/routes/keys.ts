import { endpointNamed } from "../../../api/endpoints.js";
import { nextRequest } from "../../../api/next-request.js";
import { cachedByObject } from "../../../rules/cached-by.js";
import { SandboxError } from "../../../rules/errors.js";
import { keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/key-text.js";
import type { Endpoint } from "../../../sandbox/endpoint.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import { operations } from "../../../sandbox/operations/operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { fingerprintOfRef, secretToSend } from "../../../sandbox/secrets.js";
import { viewKey, viewKeys, viewOrganization, viewOrganizations } from "../../../sandbox/views.js";
import { isReserved } from "../../../scenario/format/refs.js";
import { allKeys } from "../../../scenario/keys/scenario-keys.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import type { ValueOf } from "../../../schema/shape.js";
import * as s from "../../../schema/shape.js";
import { quote } from "../../../schema/words.js";
import { controlRoute, pageFields, type Route, refInBody } from "../route.js";

const directoryQuery = s.mapping({
  filter: s.optional(
    s.described(s.text(), "Words that the key, its state or its organization must contain. Default: none."),
  ),
  limit: s.optional(s.described(s.integer({ min: 1 }), "At most this many keys. Default: 200.")),
});

/** The keys of a page if a call sets no limit: more would delay everybody's requests. */
const keysOnAPage = 1000;

export const keyRoutes: readonly Route[] = [
  controlRoute("GET /organizations", {
    summary: "The organizations, in the scenario's order",
    query: s.mapping(pageFields("all")),
    isBare: true,
    run: ({ sandbox, query }) => ({
      data: viewOrganizations(sandbox, query),
      total: sandbox.registry.organizations.size,
    }),
  }),
  controlRoute("GET /organizations/{ref}", {
    summary: "One organization",
    run: ({ sandbox, params }) => viewOrganization(sandbox.registry.organization(params.ref).organization),
  }),
  controlRoute("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    run: ({ sandbox, params, body }) =>
      operations.organization(sandbox, { ...body, ref: params.ref }).organization,
  }),
  controlRoute("GET /keys", {
    summary:
      "The keys, each with the result of its next request; `created` counts the keys made since the start",
    query: s.mapping(pageFields(keysOnAPage)),
    isBare: true,
    run({ sandbox, query }) {
      const { offset, limit = keysOnAPage } = query;
      const page = viewKeys(sandbox, { offset, limit });
      const total = sandbox.registry.keys.size;
      return {
        data: page.map((key) => withNextRequest(key, sandbox)),
        total,
        created: total - describedCount(sandbox.scenario),
      };
    },
  }),
  controlRoute("GET /directory", {
    summary: "The organizations with their keys; `filter` matches words in keys or organizations",
    query: directoryQuery,
    run: ({ sandbox, query }) => directoryOf(sandbox, query),
  }),
  controlRoute("POST /keys", {
    summary: "Creates a key; only this response has its secret",
    status: 201,
    body: "key_creation",
    run: ({ sandbox, body }) => refInBody("organization", () => operations.create_key(sandbox, body)),
  }),
  controlRoute("GET /keys/{ref}", {
    summary:
      "One key, with the result of its next request; `ref` may also be `none`, `malformed` or `unknown`",
    query: s.mapping({
      endpoint: s.optional(
        s.described(s.text(), "The operation id of that request's endpoint. Default: that of `/me`."),
      ),
    }),
    run({ sandbox, params, query }) {
      const { ref } = params;
      const key = isReserved(ref) ? viewReserved(ref, sandbox) : viewKey(sandbox.registry.key(ref), sandbox);
      return withNextRequest(key, sandbox, endpointNamed(sandbox, query.endpoint));
    },
  }),
  controlRoute("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    status: 201,
    body: "key_rotation",
    run({ sandbox, params, body }) {
      const { replacement, secret } = operations.rotate(sandbox, { ...body, key: params.ref });
      return { key: replacement, secret };
    },
  }),
  controlRoute("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    run: ({ sandbox, params }) => operations.revoke(sandbox, { key: params.ref }),
  }),
  controlRoute("POST /keys/{ref}/secret", {
    summary: "The secret of a key that the seed made; `ref` may also be `unknown` or `malformed`",
    changes: false,
    run: ({ sandbox, params }) => ({ secret: seededSecret(sandbox, params.ref) }),
  }),
  controlRoute("POST /keys/{ref}/expire", {
    summary: "Sets when a key expires: an active one, or a replaced one in its overlap",
    body: "key_expiry",
    run: ({ sandbox, params, body }) => operations.expire(sandbox, { ...body, key: params.ref }),
  }),
];

/** Adds the result of a key's next request. */
function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  // The sentence has whether a fault comes later.
  const { isFaultLater: _, ...next } = nextRequest(sandbox, key.ref, endpoint);
  return { ...key, nextRequest: next };
}

/** The number of keys in a scenario. Cached, because the dashboard asks each second. */
const describedCount = cachedByObject((scenario: Scenario) => [...allKeys(scenario)].length);

/**
 * The directory: the organizations that have matching keys, with the first `limit` keys of all that match, and matching
 * organizations that have no keys, while there are fewer than `limit` organizations.
 */
function directoryOf(sandbox: SandboxState, query: ValueOf<typeof directoryQuery>) {
  const { filter = "", limit = 200 } = query;
  const now = sandbox.clock.now();
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);

  const sections = [];
  let matchingKeysInAll = 0;
  let listedKeys = 0;
  for (const owner of sandbox.registry.organizations.values()) {
    if (owner.keys.length === 0) {
      const isListed = sections.length < limit && hasAll(words, organizationText(owner));
      if (isListed) sections.push(directorySection(sandbox, owner, [], now));
      continue;
    }

    const matches = matchingKeys(words, owner, now);
    matchingKeysInAll += matches.length;
    const toList = matches.slice(0, limit - listedKeys);
    listedKeys += toList.length;
    if (toList.length > 0) sections.push(directorySection(sandbox, owner, toList, now));
  }
  return { sections, matching: matchingKeysInAll, total: sandbox.registry.keys.size };
}

/** The keys of an organization that have all words. */
function matchingKeys(words: readonly string[], owner: OrganizationEntry, now: number): readonly KeyEntry[] {
  // Without a filter, no key is looked at that is not listed.
  if (words.length === 0) return owner.keys;
  return owner.keys.filter((entry) => hasAll(words, searchedText(entry, now)));
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
    organization: viewOrganization(owner.organization),
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
function searchedText({ key, owner }: KeyEntry, now: number): string {
  const fingerprint = fingerprintOf(key.sha256);
  const state = keyStateAt(key, now);
  const words = [key.ref, key.name, fingerprint, key.environment, ...key.scopes, state];
  return `${organizationText(owner)} ${words.join(" ")}`;
}

/** What a filter finds an organization by. */
function organizationText({ organization }: OrganizationEntry): string {
  return `${organization.ref} ${organization.name}`;
}

/** The view of a reserved ref, such as `none`: the sandbox has no key with it. */
function viewReserved(ref: string, sandbox: SandboxState) {
  return { ref, fingerprint: fingerprintOfRef(sandbox, ref) };
}

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
