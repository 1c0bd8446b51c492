import { endpointNamed } from "../../../api/endpoints.js";
import { nextRequest } from "../../../api/predict.js";
import { type Environment, fingerprintOf, keyStateAt } from "../../../rules/api-key.js";
import { cachedBy } from "../../../rules/cached-by.js";
import { SandboxError } from "../../../rules/errors.js";
import type { Organization } from "../../../rules/organization.js";
import type { ValueOf } from "../../../rules/schema/shape.js";
import * as s from "../../../rules/schema/shape.js";
import { quote } from "../../../rules/schema/words.js";
import type { Endpoint } from "../../../sandbox/endpoint.js";
import { activeKeysIn } from "../../../sandbox/operations/key-operations.js";
import { operations } from "../../../sandbox/operations/operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { fingerprintFor, secretFor } from "../../../sandbox/secrets.js";
import { viewKey, viewKeys, viewOrganization, viewOrganizations } from "../../../sandbox/views.js";
import { describedKeys } from "../../../scenario/described-keys.js";
import { isReserved } from "../../../scenario/format/fields.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { controlRoute, pageFields, type Route, refInBody } from "../route.js";

const directoryQuery = s.mapping({
  filter: s.optional(
    s.described(s.text(), "Words that the key, its state or its organization must contain. Default: none."),
  ),
  limit: s.optional(s.described(s.count({ min: 1 }), "At most this many keys. Default: 200.")),
});

/** A page of keys without a limit: more would delay everybody's requests. */
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
    run: ({ sandbox, params: { ref = "" } }) =>
      viewOrganization(sandbox.registry.organization(ref).organization),
  }),
  controlRoute("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    run: ({ sandbox, params: { ref = "" }, body }) =>
      operations.organization(sandbox, { ...body, ref }).organization,
  }),
  controlRoute("GET /keys", {
    summary:
      "The keys, each with the result of its next request; `created` counts the keys made since the start",
    query: s.mapping(pageFields(keysOnAPage)),
    isBare: true,
    run({ sandbox, query: { offset, limit = keysOnAPage } }) {
      return {
        data: viewKeys(sandbox, { offset, limit }).map((key) => withNextRequest(key, sandbox)),
        total: sandbox.registry.keys.size,
        created: sandbox.registry.keys.size - describedCount(sandbox.scenario),
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
    run({ sandbox, params: { ref = "" }, query }) {
      const key = isReserved(ref)
        ? { ref, fingerprint: fingerprintFor(sandbox, ref) }
        : viewKey(sandbox.registry.key(ref), sandbox);
      return withNextRequest(key, sandbox, endpointNamed(sandbox, query.endpoint));
    },
  }),
  controlRoute("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    status: 201,
    body: "key_rotation",
    run({ sandbox, params: { ref: key = "" }, body }) {
      const { replacement, secret } = operations.rotate(sandbox, { ...body, key });
      return { key: replacement, secret };
    },
  }),
  controlRoute("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    run: ({ sandbox, params: { ref: key = "" } }) => operations.revoke(sandbox, { key }),
  }),
  controlRoute("POST /keys/{ref}/secret", {
    summary: "The secret of a key that the seed made; `ref` may also be `unknown` or `malformed`",
    changes: false,
    run: ({ sandbox, params: { ref = "" } }) => ({ secret: seededSecret(sandbox, ref) }),
  }),
  controlRoute("POST /keys/{ref}/expire", {
    summary: "Sets when a key expires: an active one, or a replaced one in its overlap",
    body: "key_expiry",
    run: ({ sandbox, params: { ref: key = "" }, body }) => operations.expire(sandbox, { ...body, key }),
  }),
];

/** Everybody who has the seed can compute it. A pinned secret is the user's own, and stays hidden. */
function seededSecret(sandbox: SandboxState, ref: string): string {
  const secret = secretFor(sandbox, ref);
  const pinned = Object.values(sandbox.scenario.organizations ?? {}).map(({ keys }) => keys?.[ref]?.secret);
  if (!pinned.includes(secret)) return secret;
  const message = `The secret of ${quote(ref)} is in its scenario, and not shown here.`;
  throw new SandboxError("secret_not_kept", message, { ref });
}

// The dashboard asks each second.
const describedCount = cachedBy((scenario: Scenario) => [...describedKeys(scenario)].length);

function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  return { ...key, nextRequest: nextRequest(sandbox, key.ref, endpoint) };
}

/** Lists organizations with their keys, up to a number of keys, and organizations that have none. */
function directoryOf(sandbox: SandboxState, { filter = "", limit = 200 }: ValueOf<typeof directoryQuery>) {
  const now = sandbox.clock.now();
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const activeIn = (owner: OrganizationEntry, environment: Environment) =>
    activeKeysIn(owner, environment, sandbox.assumptions, now);
  const sections = [];
  let matching = 0;
  for (const owner of sandbox.registry.organizations.values()) {
    const { organization, keys } = owner;
    // Without a filter, no key is looked at that is not listed.
    const chosen = words.length === 0 ? keys : keys.filter((entry) => matches(searchText(entry, now)));
    const room = Math.max(0, limit - matching);
    matching += chosen.length;
    const isEmpty = keys.length === 0 && matches(searchWords(organization));
    const isListed = isEmpty ? sections.length < limit : chosen.length > 0 && room > 0;
    if (!isListed) continue;
    sections.push({
      organization: viewOrganization(organization),
      active: { test: activeIn(owner, "test"), live: activeIn(owner, "live") },
      keys: chosen.slice(0, room).map((entry) => withNextRequest(viewKey(entry, sandbox), sandbox)),
    });
  }
  return { sections, matching, total: sandbox.registry.keys.size };
}

const searchWords = ({ ref, name }: Organization) => `${ref} ${name}`;

function searchText({ key, owner }: KeyEntry, now: number): string {
  const { ref, name, environment, scopes, sha256 } = key;
  const ofKey = [ref, name, fingerprintOf(sha256), environment, ...scopes, keyStateAt(key, now)];
  return [searchWords(owner.organization), ...ofKey].join(" ");
}
