import { type Decision, requirePreview } from "../../../sandbox/operations/consents.js";
import { operations } from "../../../sandbox/operations/operations.js";
import { viewConsent } from "../../../sandbox/preview/consent-views.js";
import { viewKey, viewKeys, viewOrganization, viewOrganizations } from "../../../sandbox/views.js";
import { query } from "../../../scenario/format/inputs.js";
import { describedKeyCount } from "../../../scenario/population.js";
import { keyStates } from "../../../spec/api-key.js";
import { SandboxError } from "../../../spec/errors.js";
import { snakeCase } from "../../../spec/schema/json.js";
import { choice, count, described, list, text } from "../../../spec/schema/shape.js";
import { answers } from "../answers.js";
import { directoryOf, withNextRequest } from "../directory.js";
import { type Route, route } from "../route.js";

const minute = 60_000;

const pageQuery = query({
  offset: described(count(), "The index of the first one. Default: 0."),
  limit: described(count(), "At most this many. Default: all."),
});

/** Routes for the administrators' dashboard (keys, organizations) and the farmers' app (consents, attestations). */
export const dashboardRoutes: readonly Route[] = [
  route("GET /organizations", {
    summary: "The organizations, in the scenario's order",
    query: pageQuery,
    answer: answers.OrganizationPage,
    isBare: true,
    run: ({ world, query }) => ({
      data: snakeCase(viewOrganizations(world, query)),
      total: world.registry.organizations.size,
    }),
  }),
  route("GET /organizations/{ref}", {
    summary: "One organization",
    answer: answers.Organization,
    run: ({ world, params: { ref = "" } }) =>
      snakeCase(viewOrganization(world.registry.organization(ref).organization)),
  }),
  route("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    answer: answers.Organization,
    run: ({ world, actor, params: { ref = "" }, body }) =>
      snakeCase(operations.organization(world, { ...body, ref }, { actor }).organization),
  }),
  route("GET /keys", {
    summary:
      "The keys, each with the result of its next request; `created` counts the keys made since the start",
    query: pageQuery,
    answer: answers.KeyPage,
    isBare: true,
    run: ({ world, query }) => ({
      data: snakeCase(viewKeys(world, query).map((key) => withNextRequest(key, world))),
      total: world.registry.keys.size,
      created: world.registry.keys.size - describedKeyCount(world.scenario),
    }),
  }),
  route("GET /directory", {
    summary:
      "The organizations with their keys, fifty rows a page; `filter` matches words in keys or organizations",
    query: query({
      filter: described(text(), "Words that the key or its organization must contain. Default: none."),
      state: described(choice(keyStates), "Only keys in this state."),
      page: described(count(), "Counted from 1. Default: 1."),
    }),
    answer: answers.Directory,
    run: ({ world, query }) => snakeCase(directoryOf(world, query)),
  }),
  route("POST /keys", {
    summary: "Creates a key; only this response has its secret",
    body: "key_creation",
    status: 201,
    makes: "key",
    answer: answers.IssuedKey,
    run({ world, actor, body }) {
      try {
        return snakeCase(operations.create_key(world, body, { actor }));
      } catch (error) {
        if (!(error instanceof SandboxError && error.code === "unknown_ref")) throw error;
        // An unknown ref is not found in a path, but invalid in a body.
        const fields = { organization: error.message };
        throw new SandboxError("validation_failed", error.message, { ...error.details, fields });
      }
    },
  }),
  route("GET /keys/{ref}", {
    summary: "One key, with the result of its next request",
    answer: answers.ListedKey,
    run: ({ world, params: { ref = "" } }) =>
      snakeCase(withNextRequest(viewKey(world.registry.key(ref), world), world)),
  }),
  route("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    body: "key_rotation",
    status: 201,
    makes: "key",
    answer: answers.IssuedKey,
    run({ world, actor, params: { ref: key = "" }, body: { overlap_minutes: minutes, as } }) {
      // Minutes may have fractions, milliseconds must not.
      const overlap = minutes === undefined ? undefined : Math.round(minutes * minute);
      const { replacement, secret } = operations.rotate(world, { key, overlap, as }, { actor });
      return { key: snakeCase(replacement), secret };
    },
  }),
  route("POST /keys/{ref}/revoke", {
    summary: "Revokes a key immediately: an active one, or a replaced one in its overlap",
    answer: answers.RevokedKey,
    run: ({ world, actor, params: { ref: key = "" } }) =>
      snakeCase(operations.revoke(world, { key }, { actor })),
  }),
  route("GET /consents", {
    summary: "All consent requests, oldest first",
    preview: true,
    answer: list(answers.Consent),
    run({ world }) {
      requirePreview(world);
      return world.consents.all.map((entry) => snakeCase(viewConsent(entry, world)));
    },
  }),
  decision("grant", "Grants a consent request for the farmer"),
  decision("reject", "Rejects a consent request for the farmer"),
  decision("revoke", "Revokes a consent for the farmer"),
  suspension("suspend", "Suspends an active attestation"),
  suspension("resume", "Ends the suspension of an attestation"),
];

function decision(name: Decision, summary: string): Route {
  return route(`POST /consents/{id}/${name}`, {
    summary,
    preview: true,
    answer: answers.Consent,
    run: ({ world, params: { id = "" } }) => snakeCase(operations.consent(world, { id, do: name }).consent),
  });
}

function suspension(name: "suspend" | "resume", summary: string): Route {
  return route(`POST /attestations/{id}/${name}`, {
    summary,
    preview: true,
    answer: answers.Attestation,
    run: ({ world, params: { id = "" } }) =>
      snakeCase(operations.attestation(world, { id, do: name }).attestation),
  });
}
