import { expect, test } from "vitest";
import { documentReader } from "../../src/openapi/read-api.js";
import { documentOf, serving, success } from "../support/documents.js";

const days = ["mo", "tu", "we", "th", "fr", "sa", "su"];
const documentWith = (schema: object, more: object = {}) =>
  documentOf({ "/a": { get: { operationId: "a", responses: success(schema, "application/json", more) } } });
const bodyOf = async (document: object) => JSON.parse((await serving(document).send("GET /a")).text);
const text = (more: { pattern?: string; [name: string]: unknown } = {}) => ({ type: "string", ...more });

test.each([
  ["choices", { enum: days }, 7],
  ["flags", { type: "boolean" }, 2],
  ["numbers", { type: "integer", minimum: 1 }, 4],
  ["texts", text({ minLength: 8 }), 3],
  ["objects", { type: "object", required: ["id"], properties: { id: text() } }, 3],
])("a list of different %s has different items", async (_, items, count) => {
  const list = await bodyOf(documentWith({ type: "array", minItems: count, uniqueItems: true, items }));
  expect(new Set(list.map((item: unknown) => JSON.stringify(item))).size).toBe(count);
});

test("a sample has every member, or lacks the ones that no value is valid for", async () => {
  const schema = {
    type: "object",
    required: ["code"],
    properties: { code: text({ pattern: "^[A-Z]{2}$" }), city: text(), none: { enum: [] } },
  };
  expect(await bodyOf(documentWith(schema))).toEqual({ code: "AA", city: "string" });
});

test("a sample without a valid value is {}, with a note", async () => {
  const document = documentWith({ type: "object", required: ["none"], properties: { none: { not: {} } } });
  expect(await bodyOf(document)).toEqual({});
  const openapi = { text: JSON.stringify(document) };
  expect(documentReader.notes({ openapi }, new Set()).notes).toContainEqual(
    expect.stringMatching(/^a responds with \{\}: the schema allows no sample/),
  );
});

test("an example that does not fit its schema gives way to a sample", async () => {
  expect(await bodyOf(documentWith({ type: "integer", minimum: 3 }, { example: "3" }))).toBe(3);
  expect(await bodyOf(documentWith({ type: "integer" }, { example: 7 }))).toBe(7);
});

test.each([
  ["a minimum length", text({ pattern: "^[a-z]+$", minLength: 40 })],
  ["characters that may be missing", text({ pattern: "^[a-z0-9]*$", minLength: 1 })],
  ["a date and time", text({ format: "other", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z$" })],
  ["a repeated group", text({ pattern: "^([a-z]+\\.)*[a-z]+@[a-z]+\\.com$" })],
  ["an escaped sign", text({ pattern: "^[a-z\\-]+$" })],
])("a required text with a pattern has a sample: %s", async (_, name) => {
  const body = await bodyOf(documentWith({ type: "object", required: ["name"], properties: { name } }));
  expect(body.name).toMatch(new RegExp(String(name.pattern)));
});

test("a sample has the value of its path in the member of this name", async () => {
  const member = (properties: object) => ({ type: "object", required: Object.keys(properties), properties });
  const part = member({ data: member({ part: { type: "integer", maximum: 9 } }) });
  const { ask } = serving(
    documentOf({
      "/loans/{loan_id}": { get: { responses: success(member({ id: text() })) } },
      "/loans/{id}/parts/{part}": { get: { responses: success(part) } },
    }),
  );
  expect((await ask("GET /loans/l%201")).body).toEqual({ id: "l 1" });
  expect((await ask("GET /loans/l1/parts/7")).body).toEqual({ data: { part: 7 } });
  // A value that the schema does not allow.
  expect((await ask("GET /loans/l1/parts/70")).body.data.part).toBeLessThan(10);
});

test.each([
  ["a number", { const: 5 }, "5", "6"],
  ["one of several numbers", { enum: [5, 6] }, "6", "7"],
  ["a flag", { const: true }, "true", "false"],
  ["any number", { type: "number" }, "-1.5e3", "x"],
  ["a text", { const: "5" }, "5", "6"],
  ["a text of an unknown format", { type: "string", format: "farm", maxLength: 2 }, "ab", "abc"],
  ["any flag", { type: "boolean" }, "false", "no"],
])("a path parameter that is %s is read as that", async (_, schema, right, wrong) => {
  const parameters = [{ name: "id", in: "path", required: true, schema }];
  const { send } = serving(
    documentOf({ "/a/{id}": { get: { operationId: "a", parameters, responses: success({}) } } }),
  );
  expect((await send(`GET /a/${right}`)).status).toBe(200);
  expect((await send(`GET /a/${wrong}`)).status).toBe(400);
});
