import { endpointNamed } from "../../../api/endpoints.js";
import { cachedByObject } from "../../../rules/cached-by.js";
import { SandboxError } from "../../../rules/errors.js";
import {
  createKey,
  expireKey,
  revokeKey,
  rotateKey,
  updateOrganization,
} from "../../../sandbox/operations/key-operations.js";
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
import { directoryRoutes, withNextRequest } from "./directory.js";

/** The keys of a page if a call sets no limit: more would delay everybody's requests. */
const keysOnAPage = 1000;

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
      updateOrganization(sandbox, { ...body, ref: params.ref }).organization,
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
  ...directoryRoutes,
  dataRoute("POST /keys", {
    summary: "Creates a key; only this response has its secret",
    status: 201,
    body: "key_creation",
    run: ({ sandbox, body }) => refInBody("organization", () => createKey(sandbox, body)),
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
      const { replacement, secret } = rotateKey(sandbox, { ...body, key: params.ref });
      return { key: replacement, secret };
    },
  }),
  dataRoute("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    run: ({ sandbox, params }) => revokeKey(sandbox, { key: params.ref }),
  }),
  dataRoute("POST /keys/{ref}/secret", {
    summary: "The secret of a key that the seed made; `ref` may also be `unknown` or `malformed`",
    changes: false,
    run: ({ sandbox, params }) => ({ secret: seededSecret(sandbox, params.ref) }),
  }),
  dataRoute("POST /keys/{ref}/expire", {
    summary: "Sets when a key expires: an active one, or a replaced one in its overlap",
    body: "key_expiry",
    run: ({ sandbox, params, body }) => expireKey(sandbox, { ...body, key: params.ref }),
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
