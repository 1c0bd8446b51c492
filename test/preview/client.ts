import { expect } from "vitest";
import { openApiDocument, type Scenario } from "../../src/index.js";
import { type Client, clientInProcess, headerOf, type OpenOptions, openSandbox } from "../support/doors.js";
import { expectPartsOf } from "../support/expect-described.js";
import type { Seen, Sent } from "../support/send.js";

export const consentsPath = "/v1/relying-party/consent-requests";
export const attestationsPath = "/v1/relying-party/attestations";
export const json = { "content-type": "application/json" };
export const purpose = { code: "credit_assessment", text: "To assess an application for a loan." };

const everything = ["attestations:read", "attestations:write", "consents:read", "consents:write"];
const limits = { per_minute: 1_000_000, per_day: 1_000_000 };

/** A world with the preview: two organizations, each with a key with every scope, and keys that are refused. */
export const previewScenario: Scenario = {
  version: 1,
  preview: true,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  population: { farmers: 50 },
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: {
        bank: { environment: "test", scopes: everything, limits },
        "bank-second": { environment: "test", scopes: everything, limits },
        "bank-live": { environment: "live", scopes: everything, limits },
        "bank-none": { environment: "test", scopes: ["attestations:write"], limits },
        "bank-limited": { environment: "test", scopes: everything, limits: { per_minute: 0, per_day: 10 } },
        "bank-revoked": { environment: "test", scopes: everything, state: "revoked" },
      },
    },
    insurer: {
      type: "insurer",
      live_access: "approved",
      keys: {
        insurer: { environment: "test", scopes: everything, limits },
        "insurer-live": { environment: "live", scopes: everything, limits },
      },
    },
  },
};

/** The same world without the preview. */
export const { preview: _, ...releasedScenario } = previewScenario;

/** A JSON value in which tests look around. */
// biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads of it
export type Json = any;

/** An answer at a path of the preview, checked against the description, with its parsed body. */
export type Got = Seen & { readonly json: Json };

/** A client of the preview by way of another client. Each answer is checked against the description. */
export function previewClient(client: Client) {
  const { sandbox } = client;
  const farmer = (index: number) => sandbox.farmers.at(index).farmer_id;
  const send = async (key: string, sent: Sent): Promise<Got> => {
    const seen = await client.send({
      ...sent,
      headers: { "x-api-key": sandbox.secret(key), ...sent.headers },
    });
    expectDescribed(sent.method ?? "GET", sent.path ?? "", seen);
    return { ...seen, json: seen.body === "" ? undefined : JSON.parse(seen.body) };
  };
  return {
    sandbox,
    send,
    farmer,
    /** Asks the farmer at an index; `more` goes into the body. */
    ask: (key: string, index: number, more: object = {}, headers: Sent["headers"] = {}) =>
      send(key, {
        method: "POST",
        path: consentsPath,
        headers: { ...json, ...headers },
        body: JSON.stringify({ farmer_id: farmer(index), purpose, permissions: ["land"], ...more }),
      }),
    /** Gets a path, or a consent request by its id. */
    get: (key: string, path: string) =>
      send(key, { path: path.startsWith("/") ? path : `${consentsPath}/${path}` }),
    cancel: (key: string, id: string) => send(key, { method: "POST", path: `${consentsPath}/${id}/cancel` }),
    attestations: (key: string, query = "") => send(key, { path: attestationsPath + query }),
  };
}

/** A client of a new sandbox in this process. */
export function openPreview(options?: OpenOptions, scenario: Scenario = previewScenario) {
  return previewClient(clientInProcess(openSandbox(scenario, options)));
}

interface Operation {
  readonly responses: Record<string, { readonly headers?: Record<string, object> }>;
}

/** The description with the announced endpoints. */
export const previewDescription = openApiDocument({ preview: true }) as unknown as {
  readonly paths: Record<string, Record<string, Operation & Record<string, unknown>>>;
};

const expectPart = expectPartsOf(previewDescription);

function expectDescribed(method: string, path: string, seen: Seen): void {
  expect(headerOf(seen, "x-sandbox-preview")).toBe("true");
  const [bare = ""] = path.split("?");
  const template = bare.replace(/(consent-requests|attestations)\/[^/]+/, "$1/{id}");
  const operation = previewDescription.paths[template]?.[method === "HEAD" ? "get" : method.toLowerCase()];
  const isDescribed = operation !== undefined && String(seen.status) in operation.responses;
  if (seen.status < 300) {
    expect(isDescribed).toBe(true);
    expect(headerOf(seen, "x-request-id")).toBeTruthy();
  }
  if (method === "HEAD") {
    expect(seen.body).toBe("");
    return;
  }
  const content = ["responses", String(seen.status), "content", "application/json", "schema"];
  const part = isDescribed
    ? ["paths", template, method.toLowerCase(), ...content]
    : ["components", "schemas", "ApiError"];
  expectPart(JSON.parse(seen.body), ...part);
}
