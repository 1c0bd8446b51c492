import { expect, test } from "vitest";
import { openApiDocument } from "../../src/index.js";
import { oneKey, openApi } from "../support/api-client.js";
import { released } from "../support/coverage.js";
import { headerOf, mePath, type Seen } from "../support/doors.js";
import { type Described, description, expectDescribed, expectPartsOf } from "../support/expect-described.js";
import { respondingScenarios } from "./conformance-cases.js";

/** A response is the API's error body of this status and code (R27), and nothing else. */
function expectError(seen: Seen, status: number, code: string): void {
  expect([seen.status, headerOf(seen, "content-type")]).toEqual([status, "application/json"]);
  expect(JSON.parse(seen.body)).toEqual({ error: { code, message: expect.any(String) } });
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("R1 R2 R4 a permitted key gets the context of the key, and nothing else", async () => {
  const seen = await openApi("key-states").me({ ref: "active" });
  expect([seen.status, headerOf(seen, "content-type")]).toEqual([200, "application/json"]);
  expect(JSON.parse(seen.body)).toEqual({
    data: {
      organization: { id: expect.stringMatching(uuid), name: "Harvest Cooperative Bank", type: "bank" },
      ...{ environment: "test", scopes: ["attestations:read"], limits: { per_minute: 60, per_day: 1000 } },
      usage: { today: 1 },
    },
  });
});

test("R8 a query does not change the response", async () => {
  const { sandbox, send, data } = openApi("key-states");
  const plain = await data("active");
  const headers = { "x-api-key": sandbox.secret("active"), "content-type": "application/json" };
  const loaded = await send({ headers, path: `${mePath}?environment=live&x=1` });
  expect(JSON.parse(loaded.body).data).toEqual({ ...plain, usage: { today: 2 } });
});

test("R48 the description is OpenAPI 3.1.0 of version 0.1.0, with the statuses of the specification", () => {
  expect(description.openapi).toBe("3.1.0");
  expect(description.info).toMatchObject({ version: "0.1.0", license: { name: "MIT" } });
  expect(Object.keys(description.paths)).toEqual(released.map(({ path }) => path));
  const statuses = Object.keys(description.paths[mePath]?.get?.responses ?? {});
  expect(statuses).toEqual(["200", "401", "403", "429", "default"]);
});

interface Content {
  readonly schema: { readonly $ref?: string; readonly allOf?: readonly object[] };
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
}

test("every success and error of the description has a named schema and examples of it", () => {
  const document = openApiDocument() as unknown as Described;
  const expectPart = expectPartsOf(document);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const [status, response] of Object.entries(responses)) {
        const part = ["paths", path, method, "responses", status, "content", "application/json"];
        const { content } = response as { content: Record<string, Content> };
        const { schema, example, examples = {} } = content["application/json"] as Content;
        const values = [...(example ? [example] : []), ...Object.values(examples).map(({ value }) => value)];
        expect(values).not.toEqual([]);
        for (const value of values) expectPart(value, ...part, "schema");
        const [named = schema, ...more] = schema.allOf ?? [];
        expect(named).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/(?!Error$)\w+$/) });
        expect(schema.allOf === undefined || more.length > 0).toBe(true);
        // Linters close each object that is not declared open.
        const refined = { properties: { error: { additionalProperties: true } } };
        for (const one of more) expect(one).toMatchObject(refined);
      }
    }
  }
});

test.each(respondingScenarios)("R48 %s: every response validates against the description", async (name) => {
  const { sandbox, me, send } = openApi(name);
  for (const { ref } of sandbox.keys.list()) expectDescribed(await me({ ref }));
  for (const header of [undefined, { header: "nonsense" }]) expectDescribed(await me(header));
  expectDescribed(await send({ method: "POST" }));
});

test("R47 the version is in the path: without it, or with another, there is nothing", async () => {
  const { sandbox, send } = openApi("key-states");
  const headers = { "x-api-key": sandbox.secret("active") };
  for (const path of ["/relying-party/me", "/v2/relying-party/me", "/", "/V1/relying-party/me"]) {
    expectError(await send({ path, headers }), 404, "not_found");
  }
});

test("R21 a key that lacks the scope of the endpoint gets 403 insufficient_scope, as long as one is needed", async () => {
  const narrow = { scopes: ["consents:read"] };
  const seen = await openApi(oneKey(narrow)).me({ ref: "key" });
  expectError(seen, 403, "insufficient_scope");
  expect(await openApi(oneKey(narrow, { assumptions: { me_scope: null } })).status("key")).toBe(200);
  const other = oneKey(narrow, { assumptions: { me_scope: "consents:read" } });
  expect(await openApi(other).status("key")).toBe(200);
});
