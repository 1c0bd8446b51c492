import type { Scenario } from "../../src/index.js";

/** A scenario with endpoints of its own; `main` has their scopes, `narrow` only the usual one. */
export const withEndpoints = {
  version: 1,
  endpoints: {
    listConsents: { path: "/v1/relying-party/consents", scope: "consents:read", body: { data: [] } },
    createConsent: {
      method: "POST",
      path: "/v1/relying-party/consents",
      scope: "consents:write",
      status: 201,
      body: { data: { id: "c-1", note: "Zürich" } },
    },
    readConsent: {
      path: "/v1/relying-party/consents/{id}",
      body: { data: { id: "c-1" } },
    },
    acceptConsent: { method: "PUT", path: "/v1/relying-party/consents/{id}", status: 202 },
    endConsent: { method: "DELETE", path: "/v1/relying-party/consents/{id}", status: 204 },
  },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test", scopes: ["attestations:read", "consents:read", "consents:write"] },
        narrow: { environment: "test" },
      },
    },
  },
} as const satisfies Scenario;

export const consents = "/v1/relying-party/consents";
