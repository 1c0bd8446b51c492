import { endpointNamed } from "../../../api/endpoints.js";
import { lifelines } from "../../../api/lifelines.js";
import { nextRequest } from "../../../api/next-request.js";
import { explainKey } from "../../../report/request-text.js";
import { SandboxError } from "../../../rules/errors.js";
import { endStateOf, endTime, keyStateAt } from "../../../rules/key-state.js";
import { type Environment, fingerprintOf } from "../../../rules/keys/key-text.js";
import { isoTime } from "../../../rules/time.js";
import { cachedByObject } from "../../../sandbox/cached-by.js";
import type { Endpoint } from "../../../sandbox/call.js";
import { sentKeyRef } from "../../../sandbox/journal/exchange.js";
import {
  activeKeysIn,
  createKey,
  expireKey,
  revokeKey,
  rotateKey,
  updateOrganization,
} from "../../../sandbox/operations/key-operations.js";
import type { KeyEntry, OrganizationEntry } from "../../../sandbox/registry.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { fingerprintOfRef, secretToSend } from "../../../sandbox/secrets.js";
import { pageOf, viewKey, viewOrganization, viewOrganizations } from "../../../sandbox/views.js";
import { isReserved } from "../../../scenario/format/fields.js";
import { allKeys } from "../../../scenario/keys.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import * as s from "../../../schema/shape.js";
import { membersToSnakeCase } from "../../../schema/spelling.js";
import { quote } from "../../../schema/words.js";
import type { Route } from "../route.js";
import { controlRoute, dataResult, refInBody } from "../route.js";
import { keysOfStory } from "./story.js";

// Keys as people look for them: by their organizations, and their lives.

/** The most rows of a list in one response: more would delay everybody's requests. */
const maxListed = 1000;

/** The field of a query for at most so many rows of a list. `usual` is the number without it. */
function limitField(usual = maxListed) {
  const limit = s.integer({ max: maxListed });
  return s.optional(s.described(limit, `At most this many. Default: ${usual}.`));
}

/** The fields of a query for a part of a list. */
export function pageFields(usual = maxListed) {
  const offset = s.described(s.integer(), "The index of the first one. Default: 0.");
  return { offset: s.optional(offset), limit: limitField(usual) };
}

const filterField = s.optional(
  s.described(s.text(), "Words that the key, its state or its organization must contain. Default: none."),
);

const directoryRoute: Route = controlRoute("GET /directory", {
  summary: "The organizations with their keys; `filter` matches words in keys or organizations",
  query: s.mapping({ filter: filterField, limit: limitField() }),
  run({ sandbox, query }) {
    const matching = matchingRows(sandbox, query.filter);
    const rows = matching.slice(0, query.limit ?? maxListed);
    const listedKeys = new Map<OrganizationEntry, KeyEntry[]>();
    for (const { owner, entry } of rows) {
      const keys = listedKeys.get(owner) ?? [];
      if (entry !== undefined) keys.push(entry);
      listedKeys.set(owner, keys);
    }
    return dataResult({
      sections: Array.from(listedKeys, ([owner, keys]) => viewSection(sandbox, owner, keys)),
      matching: matching.filter(({ entry }) => entry !== undefined).length,
      total: sandbox.registry.keys.size,
      left: matching.length - rows.length,
    });
  },
});

const lifelinesRoute: Route = controlRoute("GET /lifelines", {
  summary:
    "The phases of each key: the outcomes that it got, and will get; of too many, the keys that were used last, then those that end",
  query: s.mapping({
    organization: s.optional(s.described(s.text(), "Only the keys of this one. Default: of all.")),
    key: s.optional(s.described(s.text(), "Only this key. Default: all.")),
    filter: filterField,
    story: s.optional(s.described(s.flag(), "Whether only the keys that the story uses. Default: false.")),
    limit: limitField(),
  }),
  run({ sandbox, query }) {
    const { organization, key, story = false, limit = maxListed } = query;
    const storyKeys = story ? new Set(keysOfStory(sandbox)) : undefined;
    // Unknown ones are an error.
    if (organization !== undefined) sandbox.registry.organization(organization);
    if (key !== undefined) sandbox.registry.key(key);

    const matching: KeyEntry[] = [];
    for (const { owner, entry } of matchingRows(sandbox, query.filter)) {
      if (entry === undefined) continue;
      const { ref } = entry.key;
      if (organization !== undefined && owner.organization.ref !== organization) continue;
      const isWanted = (key === undefined || ref === key) && (storyKeys?.has(ref) ?? true);
      if (isWanted) matching.push(entry);
    }
    const chosen = chooseLines(sandbox, matching, limit);
    return dataResult({ lifelines: lifelines(sandbox, chosen), left: matching.length - chosen.length });
  },
});

/** At most so many of the keys, in their order: those that were used last, then those that end. */
function chooseLines(sandbox: SandboxState, keys: readonly KeyEntry[], limit: number): readonly KeyEntry[] {
  if (keys.length <= limit) return keys;
  const lastUses = new Map<string, number>();
  for (const [index, exchange] of sandbox.journal.requests().entries()) {
    lastUses.set(sentKeyRef(exchange), index + 1);
  }

  const rankOf = ({ key }: KeyEntry) => {
    const lastUse = lastUses.get(key.ref);
    if (lastUse !== undefined) return lastUse;
    return endStateOf(key) === undefined ? -1 : 0;
  };
  const ranked = [...keys].sort((one, other) => rankOf(other) - rankOf(one));
  const chosen = new Set(ranked.slice(0, limit));
  return keys.filter((entry) => chosen.has(entry));
}

/** The rows of the directory that have all words of a filter, in the scenario's order: a key, or an organization without any. */
function matchingRows(sandbox: SandboxState, filter = "") {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAllWords = (text: string) => {
    const inLowerCase = text.toLowerCase();
    return words.every((word) => inLowerCase.includes(word));
  };

  const { registry, additions } = sandbox;
  const now = sandbox.clock.now();
  const rows: { readonly owner: OrganizationEntry; readonly entry: KeyEntry | undefined }[] = [];
  for (const owner of registry.organizations.values()) {
    const { ref, name } = owner.organization;
    const ownText = `${ref} ${name}${additions.nameEnding}`;
    if (owner.keys.length === 0 && hasAllWords(ownText)) rows.push({ owner, entry: undefined });
    for (const entry of owner.keys) {
      // Without a filter, no key is looked at that is not listed.
      if (words.length === 0) {
        rows.push({ owner, entry });
        continue;
      }
      const { key } = entry;
      const texts = [ownText, key.ref, key.name, fingerprintOf(key.sha256), key.environment, ...key.scopes];
      texts.push(...additions.scopes, keyStateAt(key, now));
      if (hasAllWords(texts.join(" "))) rows.push({ owner, entry });
    }
  }
  return rows;
}

/** An organization with some of its keys, as the response has it. */
function viewSection(sandbox: SandboxState, owner: OrganizationEntry, keys: readonly KeyEntry[]) {
  const now = sandbox.clock.now();
  const activeIn = (environment: Environment) => activeKeysIn(owner, environment, now);
  return {
    organization: viewOrganization(owner.organization, sandbox),
    active: { test: activeIn("test"), live: activeIn("live") },
    keys: keys.map((entry) => viewListedKey(entry, sandbox)),
  };
}

/** A key, when it ends or has ended, and the result of its next request. */
function viewListedKey(entry: KeyEntry, sandbox: SandboxState, endpoint?: Endpoint) {
  const { key } = entry;
  const end = endStateOf(key);
  return {
    ...viewKey(entry, sandbox),
    endsAt: end === undefined ? null : isoTime(endTime(key, end)),
    nextRequest: nextRequest(sandbox, key.ref, endpoint),
  };
}

export const keyRoutes: readonly Route[] = [
  controlRoute("GET /organizations", {
    summary: "The organizations, in the scenario's order",
    query: s.mapping(pageFields()),
    run({ sandbox, query }) {
      const { offset, limit = maxListed } = query;
      const data = membersToSnakeCase(viewOrganizations(sandbox, { offset, limit }));
      return { kind: "json", status: 200, json: { data, total: sandbox.registry.organizations.size } };
    },
  }),
  controlRoute("GET /organizations/{ref}", {
    summary: "One organization",
    run: ({ sandbox, params }) =>
      dataResult(viewOrganization(sandbox.registry.organization(params.ref).organization, sandbox)),
  }),
  controlRoute("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    run: ({ sandbox, params, body }) =>
      dataResult(updateOrganization(sandbox, { ...body, ref: params.ref }).organization),
  }),
  controlRoute("GET /keys", {
    summary:
      "The keys, each with the result of its next request; `created` counts the keys made since the start",
    query: s.mapping(pageFields()),
    run({ sandbox, query }) {
      const { offset, limit = maxListed } = query;
      const page = pageOf(sandbox.registry.keys, { offset, limit });
      const data = membersToSnakeCase(page.map((entry) => viewListedKey(entry, sandbox)));
      const total = sandbox.registry.keys.size;
      const created = total - keysInScenario(sandbox.scenario);
      return { kind: "json", status: 200, json: { data, total, created } };
    },
  }),
  directoryRoute,
  lifelinesRoute,
  controlRoute("POST /keys", {
    summary: "Creates a key; only this response has its secret",
    body: "key_creation",
    showsSecret: true,
    run: ({ sandbox, body }) =>
      dataResult(
        refInBody("organization", () => createKey(sandbox, body)),
        201,
      ),
  }),
  controlRoute("GET /keys/{ref}", {
    summary:
      "One key, and what its next request gets, `explained` as `explain` prints it; `ref` may also be `none`, `malformed`, `unknown`, or the SHA-256 of a key in hex",
    query: s.mapping({
      endpoint: s.optional(
        s.described(s.text(), "The operation id of that request's endpoint. Default: that of `/me`."),
      ),
    }),
    run({ sandbox, params, query }) {
      // A full key is no part of an address (R46): who has one asks by its hash.
      const ref = sandbox.registry.find(params.ref)?.key.ref ?? params.ref;
      const endpoint = endpointNamed(sandbox, query.endpoint);
      // The sandbox has no key with a reserved ref, such as `none`.
      const explained = explainKey(sandbox, ref, endpoint);
      if (!isReserved(ref)) {
        return dataResult({ ...viewListedKey(sandbox.registry.key(ref), sandbox, endpoint), explained });
      }
      const fingerprint = fingerprintOfRef(sandbox, ref);
      return dataResult({ ref, fingerprint, nextRequest: nextRequest(sandbox, ref, endpoint), explained });
    },
  }),
  controlRoute("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    body: "key_rotation",
    showsSecret: true,
    run({ sandbox, params, body }) {
      const { replacement, secret } = rotateKey(sandbox, { ...body, key: params.ref });
      return dataResult({ key: replacement, secret }, 201);
    },
  }),
  controlRoute("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    run: ({ sandbox, params }) => dataResult(revokeKey(sandbox, { key: params.ref })),
  }),
  controlRoute("POST /keys/{ref}/secret", {
    summary: "The secret of a key that the seed made; `ref` may also be `unknown` or `malformed`",
    changes: false,
    showsSecret: true,
    run: ({ sandbox, params }) => dataResult({ secret: seededSecret(sandbox, params.ref) }),
  }),
  controlRoute("POST /keys/{ref}/expire", {
    summary: "Sets when a key expires: an active one, or a replaced one in its overlap",
    body: "key_expiry",
    run: ({ sandbox, params, body }) => dataResult(expireKey(sandbox, { ...body, key: params.ref })),
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
