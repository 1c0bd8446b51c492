import { expect, test } from "vitest";
import { documentOf, serving, success } from "../support/documents.js";

const days = ["mo", "tu", "we", "th", "fr", "sa", "su"];

test.each([
  ["each of two choices", { enum: ["a", "b"] }, 2],
  ["each of seven choices", { enum: days }, 7],
  ["both flags", { type: "boolean" }, 2],
  ["four small numbers", { type: "integer", minimum: 1, maximum: 4 }, 4],
])("a list of different items has %s, for any seed", async (_, items, count) => {
  const schema = { type: "array", minItems: count, uniqueItems: true, items };
  const document = documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } });
  for (let seed = 1; seed <= 20; seed++) {
    const { text } = await serving(document, { seed }).send("GET /a");
    expect(new Set(JSON.parse(text)).size).toBe(count);
  }
});

test.each([
  ["a number", { const: 5 }, "5", "6"],
  ["one of several numbers", { enum: [5, 6] }, "6", "7"],
  ["a flag", { const: true }, "true", "false"],
  ["a text", { const: "5" }, "5", "6"],
])("a path parameter that is %s without a type is read as that", async (_, schema, right, wrong) => {
  const parameters = [{ name: "id", in: "path", required: true, schema }];
  const { send } = serving(
    documentOf({ "/a/{id}": { get: { operationId: "a", parameters, responses: success({}) } } }),
  );
  expect((await send(`GET /a/${right}`)).status).toBe(200);
  expect((await send(`GET /a/${wrong}`)).status).toBe(400);
});
