import { expect, test } from "vitest";
import { content, documentOf, serving, success } from "../support/documents.js";

const json = { "content-type": "application/json" };
const posting = (schema: object, more: object = {}, root: object = {}) =>
  documentOf(
    {
      "/a": {
        post: { operationId: "a", requestBody: content(schema), responses: { ...success({}), ...more } },
      },
    },
    root,
  );

test.each([
  [[], 400, 400],
  [[400], 400, 400],
  [[422], 422, 422],
  [[400, 422], 400, 422],
])(
  "with the documented %j, a body that is not JSON gets %i, and one that does not fit gets %i",
  async (documented, unreadable, mismatched) => {
    const more = Object.fromEntries(documented.map((status) => [status, { description: "" }]));
    const { send } = serving(posting({ type: "object", required: ["a"] }, more));
    const statusOf = async (body: string) => (await send("POST /a", json, body)).status;
    expect(await statusOf("{")).toBe(unreadable);
    expect(await statusOf("{}")).toBe(mismatched);
    expect(await statusOf('{"a":1}')).toBe(200);
  },
);

test("a pattern with nested repetitions is not checked, because it may take exponential time", async () => {
  const { send } = serving(posting({ type: "string", pattern: "^(?:a+)+$" }));
  expect((await send("POST /a", json, JSON.stringify(`${"a".repeat(5000)}!`))).status).toBe(200);
});

test.each([
  ["not the start", "^(?!https://)[a-z:/]+$", "abc", "https://abc"],
  ["all of several", "^(?=.*[0-9])(?=.*(?:a|b)).{4,}$", "12a4", "1234"],
])("a pattern that looks ahead for %s is checked", async (_, pattern, right, wrong) => {
  const schema = { type: "string", pattern };
  const { send } = serving(posting(schema));
  expect((await send("POST /a", json, JSON.stringify(right))).status).toBe(200);
  expect((await send("POST /a", json, JSON.stringify(wrong))).status).toBe(400);
});

test("a list must contain an item, and a value that is no list need not", async () => {
  const { send } = serving(posting({ contains: { type: "integer" } }));
  const statusOf = async (body: unknown) => (await send("POST /a", json, JSON.stringify(body))).status;
  expect([await statusOf(["a", 1]), await statusOf(["a"]), await statusOf("a")]).toEqual([200, 400, 200]);
});

test("a nullable choice accepts null, and one that is not rejects it", async () => {
  const schema = {
    type: "object",
    properties: {
      a: { type: "string", enum: ["x"], nullable: true },
      b: { type: "string", enum: ["x"] },
      c: { maxLength: 1, nullable: true },
    },
  };
  const { send } = serving(posting(schema, {}, { openapi: "3.0.3" }));
  expect((await send("POST /a", json, '{"a":null,"c":null}')).status).toBe(200);
  expect((await send("POST /a", json, '{"c":"xx"}')).status).toBe(400);
  expect((await send("POST /a", json, '{"b":null}')).status).toBe(400);
});

test("a request needs no member that is only read, and a response has no member that is only written", async () => {
  const schema = {
    type: "object",
    required: ["id", "secret"],
    properties: {
      id: { type: "string", const: "1", readOnly: true },
      secret: { type: "string", const: "s", writeOnly: true },
    },
  };
  const { send } = serving(posting(schema, success(schema)));
  const { status, text } = await send("POST /a", json, '{"secret":"s"}');
  expect([status, JSON.parse(text)]).toEqual([200, { id: "1" }]);
  expect((await send("POST /a", json, '{"id":"1"}')).status).toBe(400);
});

test("a chain of three references leads to a schema, a response, a parameter and a body", async () => {
  const chain = (kind: string, last: object) => ({
    one: { $ref: `#/components/${kind}/two` },
    two: { $ref: `#/components/${kind}/three` },
    three: last,
  });
  const components = {
    schemas: chain("schemas", { type: "integer", const: 7 }),
    responses: chain("responses", { description: "", ...content({ $ref: "#/components/schemas/one" }) }),
    parameters: chain("parameters", { name: "n", in: "query", required: true, schema: { type: "integer" } }),
    requestBodies: chain("requestBodies", { required: true, ...content({ type: "boolean" }) }),
  };
  const post = {
    operationId: "a",
    parameters: [{ $ref: "#/components/parameters/one" }],
    requestBody: { $ref: "#/components/requestBodies/one" },
    responses: { 200: { $ref: "#/components/responses/one" } },
  };
  const { send } = serving(documentOf({ "/a": { post } }, { components }));
  expect(await send("POST /a?n=1", json, "true")).toMatchObject({ status: 200, text: "7" });
  expect((await send("POST /a?n=x", json, "true")).status).toBe(400);
  expect((await send("POST /a", json, "true")).status).toBe(400);
  expect((await send("POST /a?n=1", json, "1")).status).toBe(400);
});

test.each([
  ["with a type", { type: "object" }],
  ["without a type", {}],
])("nullable next to allOf allows null %s", async (_, more) => {
  const Owner = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
  const owner = { ...more, nullable: true, allOf: [{ $ref: "#/components/schemas/Owner" }] };
  const body = content({ type: "object", required: ["owner"], properties: { owner } });
  const post = { operationId: "make", requestBody: body, responses: { 204: { description: "" } } };
  const document = {
    ...documentOf({ "/a": { post } }, { components: { schemas: { Owner } } }),
    openapi: "3.0.3",
  };
  const { ask } = serving(document);
  const statusOf = async (value: unknown) => (await ask("POST /a", { body: { owner: value } })).status;
  expect([await statusOf(null), await statusOf({ name: "a" }), await statusOf({})]).toEqual([204, 204, 400]);
});

test("a request need not have an inherited discriminator that is only read, but any other", async () => {
  const statusWith = async (member: object) => {
    const kind = { type: "string", ...member };
    const Base = { type: "object", properties: { kind }, discriminator: { propertyName: "kind" } };
    const Heir = { allOf: [{ $ref: "#/components/schemas/Base" }] };
    const components = { schemas: { Base, Heir } };
    const { send } = serving(posting({ $ref: "#/components/schemas/Heir" }, {}, { components }));
    return (await send("POST /a", json, "{}")).status;
  };
  expect([await statusWith({ readOnly: true }), await statusWith({})]).toEqual([200, 400]);
});
