import { snakeCase } from "../../api/snake-case.js";
import type { Decision } from "../../sandbox/operations/consents.js";
import { requirePreview } from "../../sandbox/operations/input.js";
import { operations } from "../../sandbox/operations/operations.js";
import { viewConsent } from "../../sandbox/preview/consent-views.js";
import { viewKey, viewKeys, viewOrganization, viewOrganizations } from "../../sandbox/views.js";
import { inData } from "./answer-schemas.js";
import { get, inField, type Route, route } from "./route.js";

const minute = 60_000;

/** Keys and organizations, as in the administrators' dashboard; consents and attestations, as in the farmers' app. */
export const dashboardRoutes: readonly Route[] = [
  get("/organizations", "All organizations", inData.list("Organization"), ({ world }) =>
    snakeCase(viewOrganizations(world)),
  ),
  get("/organizations/{ref}", "One organization", inData.one("Organization"), ({ world, params }) =>
    snakeCase(viewOrganization(world.registry.organization(params.ref as string).organization)),
  ),
  route("PATCH /organizations/{ref}", {
    summary: "Changes an organization's status, sandbox access or live access",
    body: "organization_update",
    answer: inData.one("Organization"),
    run({ world, actor, params, body }) {
      const { organization } = operations.organization(
        world,
        { ...body, ref: params.ref as string },
        { actor },
      );
      return { data: snakeCase(organization) };
    },
  }),
  get("/keys", "All keys, in the scenario's order", inData.list("Key"), ({ world }) =>
    snakeCase(viewKeys(world)),
  ),
  route("POST /keys", {
    summary: "Creates a key; its secret is in this answer and nowhere else",
    body: "key_creation",
    status: 201,
    answer: inData.one("IssuedKey"),
    run({ world, actor, body }) {
      // An unknown ref is a missing page in a path, but a wrong field in a body.
      inField("organization", () => world.registry.organization(body.organization), ["unknown_ref"]);
      return { data: snakeCase(operations.create_key(world, body, { actor })) };
    },
  }),
  get("/keys/{ref}", "One key", inData.one("Key"), ({ world, params }) =>
    snakeCase(viewKey(world.registry.key(params.ref as string), world)),
  ),
  route("POST /keys/{ref}/rotate", {
    summary: "Replaces an active key; the old one works until its overlap ends",
    body: "key_rotation",
    status: 201,
    answer: inData.one("IssuedKey"),
    run({ world, actor, params, body: { overlap_minutes: minutes, as } }) {
      // Minutes may have fractions; rounding removes those of a millisecond.
      const overlap = minutes === undefined ? undefined : Math.round(minutes * minute);
      const rotated = operations.rotate(world, { key: params.ref as string, overlap, as }, { actor });
      return { data: { key: snakeCase(rotated.replacement), secret: rotated.secret } };
    },
  }),
  route("POST /keys/{ref}/revoke", {
    summary: "Revokes an active key at once",
    answer: inData.one("RevokedKey"),
    run: ({ world, actor, params }) => ({
      data: snakeCase(operations.revoke(world, { key: params.ref as string }, { actor })),
    }),
  }),
  route("GET /consents", {
    summary: "All consent requests, oldest first",
    preview: true,
    answer: inData.list("Consent"),
    run({ world }) {
      requirePreview(world);
      return { data: world.consents.all.map((entry) => snakeCase(viewConsent(entry, world))) };
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
    answer: inData.one("Consent"),
    run: ({ world, params }) => ({
      data: snakeCase(operations.consent(world, { id: params.id as string, do: name }).consent),
    }),
  });
}

function suspension(name: "suspend" | "resume", summary: string): Route {
  return route(`POST /attestations/{id}/${name}`, {
    summary,
    preview: true,
    answer: inData.one("Attestation"),
    run: ({ world, params }) => ({
      data: snakeCase(operations.attestation(world, { id: params.id as string, do: name }).attestation),
    }),
  });
}
