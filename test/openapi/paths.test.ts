import { expect, test } from "vitest";
import { documentReader } from "../../src/openapi/read-api.js";
import { documentOf, serving, success } from "../support/documents.js";

const named = (name: string, schema: object = { type: "string" }) => ({
  name,
  in: "path",
  required: true,
  schema,
});
const operation = (operationId: string, more: object = {}) => ({
  operationId,
  responses: success({ const: operationId }),
  ...more,
});

test("a parameter may be a part of a segment, and the most specific path responds", async () => {
  const { send } = serving(
    documentOf({
      "/a/{id}": { get: operation("any") },
      "/a/{id}.json": { get: operation("json", { parameters: [named("id", { type: "integer" })] }) },
      "/a/v{id}.json": { get: operation("version") },
      "/a/{id}-{other}": { get: operation("several") },
    }),
  );
  const at = async (path: string) => (await send(`GET ${path}`)).text;
  expect(await at("/a/4")).toBe('"any"');
  expect(await at("/a/4.json")).toBe('"json"');
  expect(await at("/a/v4.json")).toBe('"version"');
  expect((await send("GET /a/x.json")).status).toBe(400);
  expect(await at("/a/4-5")).toBe('"any"');
});

test("operations whose paths differ in the names of parameters share a route, each with its own names", async () => {
  const integer = { type: "integer" };
  const { send } = serving(
    documentOf({
      "/a/{id}": { get: operation("get", { parameters: [named("id", integer)] }) },
      "/a/{name}": { put: operation("put", { parameters: [named("name")] }) },
    }),
  );
  expect((await send("GET /a/4")).text).toBe('"get"');
  expect((await send("GET /a/x")).status).toBe(400);
  expect((await send("PUT /a/x")).text).toBe('"put"');
});

test("lists in a path and a header are sent and read with commas", async () => {
  const schema = { type: "array", minItems: 2, items: { type: "integer" } };
  const parameters = [named("ids", schema), { ...named("X-Ids", schema), in: "header" }];
  const document = documentOf({ "/a/{ids}": { get: operation("a", { parameters }) } });
  const { send } = serving(document);
  expect((await send("GET /a/1,2", { "x-ids": "3,4" })).status).toBe(200);
  expect((await send("GET /a/1,x", { "x-ids": "3,4" })).status).toBe(400);
  expect((await send("GET /a/1,2", { "x-ids": "3" })).status).toBe(400);
  const text = JSON.stringify(document);
  expect(documentReader.notes({ openapi: { text } }, new Set()).notes.join()).not.toContain("reject");
});

test("a text that is valid as a number and as a text is one of both", async () => {
  const either = named("id", { oneOf: [{ type: "integer" }, { type: "string" }] });
  const { send } = serving(documentOf({ "/a/{id}": { get: operation("a", { parameters: [either] }) } }));
  expect((await send("GET /a/46")).status).toBe(200);
});

test("an object in a query has the members of its alternatives", async () => {
  const object = (name: string) => ({
    properties: { [name]: { type: "string" } },
    required: [name],
    additionalProperties: false,
  });
  const schema = { type: "object", oneOf: [object("user"), object("email")] };
  const parameters = [{ name: "filter", in: "query", required: true, schema }];
  const { send } = serving(documentOf({ "/a": { get: operation("a", { parameters }) } }));
  expect((await send("GET /a?user=1")).status).toBe(200);
  expect((await send("GET /a?other=1")).status).toBe(400);
});

test.each([...":;@=+&()!~*,"])("the fixed part of a path has %s encoded or not", async (sign) => {
  const encoded = `%${sign.charCodeAt(0).toString(16)}`;
  const documented = (one: string) =>
    documentOf({
      [`/a${one}b`]: { get: operation("fixed") },
      [`/b${one}{id}`]: { get: operation("part", { parameters: [named("id", { const: `4${sign}` })] }) },
    });
  for (const { send } of [sign, encoded].map((one) => serving(documented(one))))
    for (const sent of [sign, encoded, encoded.toUpperCase()]) {
      expect((await send(`GET /a${sent}b`)).text).toBe('"fixed"');
      expect((await send(`GET /b${sent}4${sent}`)).text).toBe('"part"');
    }
});

test("an empty value is allowed where the parameter allows it", async () => {
  const inQuery = (name: string, type: string, more: object) => ({
    ...{ name, in: "query", schema: { type, items: { type: "integer" } } },
    ...more,
  });
  const parameters = [
    inQuery("empty", "integer", { allowEmptyValue: true, required: true }),
    inQuery("list", "array", { allowEmptyValue: true }),
    inQuery("full", "integer", {}),
  ];
  const { send } = serving(documentOf({ "/a": { get: operation("a", { parameters }) } }));
  const statusOf = async (query: string) => (await send(`GET /a?${query}`)).status;
  expect(await statusOf("empty=&list=")).toBe(200);
  expect(await statusOf("empty&list=1")).toBe(200);
  expect(await statusOf("empty=5")).toBe(200);
  expect(await statusOf("empty=x")).toBe(400);
  expect(await statusOf("list=")).toBe(400);
  expect(await statusOf("empty=&full=")).toBe(400);
});

const listOf = (where: string, style: string, minItems: number) => ({
  ...{ name: "ids", in: where, required: true, style, explode: false },
  schema: { type: "array", minItems, maxItems: minItems, items: { type: "string" } },
});

test.each([
  ["query", "form", "/a?ids=x%2Cy,z", 2],
  ["path", "simple", "/a/x%2Cy,z", 2],
  ["query", "pipeDelimited", "/a?ids=x%7Cy|z", 2],
  ["query", "spaceDelimited", "/a?ids=x%20y+z", 3],
  // As generated clients send it.
  ["query", "form", "/a?ids=x%2Cy%2Cz", 3],
])("a list in the %s with the style %s, sent as %s, has %i items", async (where, style, target, count) => {
  const path = where === "path" ? "/a/{ids}" : "/a";
  for (const items of [count, count + 1]) {
    const document = documentOf({
      [path]: { get: operation("a", { parameters: [listOf(where, style, items)] }) },
    });
    expect((await serving(document).send(`GET ${target}`)).status).toBe(items === count ? 200 : 400);
  }
});

test.each([
  ["/x y", "/x%20y"],
  ["/x|y", "/x%7Cy"],
  ["/x>y", "/x%3Ey"],
  ["/x%y", "/x%25y"],
  ["/100%/{id}", "/100%25/1"],
])("a client reaches %j of the document as %s", async (path, target) => {
  const { send } = serving(documentOf({ [path]: { get: operation("a") } }));
  expect((await send(`GET ${target}`)).status).toBe(200);
});

test("a path with a query is served without it, and a note names it as the document does", async () => {
  const document = documentOf({ "/a": { get: operation("a") }, "/a?beta=true": { get: operation("b") } });
  expect((await serving(document).send("GET /a")).text).toBe('"a"');
  const openapi = { text: JSON.stringify(document) };
  expect(documentReader.notes({ openapi }, new Set()).notes[0]).toBe(
    "GET /a?beta=true is not served: an operation before it has the same path.",
  );
});
