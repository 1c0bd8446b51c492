import { expect, test } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.js";
import { builtIn } from "../../src/api/routes.js";
import { documentReader, readApi } from "../../src/openapi/read-api.js";
import { maxSamples } from "../../src/openapi/sampler.js";
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

test("each of several parts with overlapping alternatives gets a sample of only one", async () => {
  const any = { type: "object", properties: { a: { type: "string" } } };
  const one = { type: "object", required: ["b"], properties: { b: { type: "integer" } } };
  const either = (...oneOf: object[]) => ({ oneOf });
  const properties = {
    first: either(any, one),
    last: { type: "array", minItems: 1, items: either(one, any) },
  };
  const schema = { type: "object", required: ["first", "last"], properties };
  const { send } = serving(documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } }));
  const { first, last } = JSON.parse((await send("GET /a")).text);
  expect([first, ...last].map((value) => Object.keys(value).join())).toEqual([first, ...last].map(() => "a"));
});

test("alternatives that allow each other's objects are told apart by a member", async () => {
  const oneOf = ["a", "b"].map((name) => ({ type: "object", properties: { [name]: { type: "string" } } }));
  const schema = { type: "object", required: ["data"], properties: { data: { oneOf } } };
  const { send } = serving(documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } }));
  const { data } = JSON.parse((await send("GET /a")).text);
  expect(["a", "b"].filter((name) => name in data && typeof data[name] !== "string")).toHaveLength(1);
});

test("a number with steps below 1 is a multiple also without rounding", async () => {
  const schema = { type: "number", multipleOf: 0.01 };
  const document = documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } });
  for (let seed = 1; seed <= 20; seed++) {
    const { text } = await serving(document, { seed }).send("GET /a");
    expect(Number.isInteger(Number(text) / 0.01)).toBe(true);
  }
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

test("an example that the document lacks needs no sample of its own, and only the last seeds keep theirs", () => {
  const document = documentOf({
    "/a": { get: { operationId: "a", responses: success({ type: "string" }) } },
  });
  const { respond } = readApi({ text: JSON.stringify(document) }, builtIn).endpoints.at(-1) as Endpoint;
  const sample = (seed: number, example?: string) => {
    const sandbox = { seed, startedAt: 0, scenario: { version: 1 } };
    return respond(undefined as never, sandbox as never, { params: {}, prefer: { example } } as never);
  };
  const first = sample(1);
  expect(sample(1, "unknown")).toBe(first);
  for (let seed = 2; seed <= maxSamples + 1; seed++) sample(seed);
  expect(sample(1)).toEqual(first);
  expect(sample(1)).not.toBe(first);
});

const textNamed = (more: object) => ({ type: "string", ...more });
const inner = (name: object, required: string[] = []) => ({
  ...{ type: "object", required: ["country_code", ...required] },
  properties: { country_code: textNamed({ pattern: "^[A-Z]{2}$" }), name },
});
const bodyFor = async (schema: object, seed = 1) => {
  const document = documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } });
  return JSON.parse((await serving(document, {}, { seed }).send("GET /a")).text);
};

test.each([
  ["a category of characters", textNamed({ pattern: "^\\p{Lu}+$" })],
  ["a flag in a pattern", textNamed({ pattern: "^(?i)abc$" })],
  ["a class by name", textNamed({ pattern: "^[[:alpha:]]+$" })],
  ["no choice", { enum: [] }],
])("an optional member without a sample is left out alone: %s", async (_, name) => {
  const address = { type: "object", properties: { inner: inner(name), city: textNamed({}) } };
  const document = documentOf({
    "/a": { get: { operationId: "a", responses: success({ type: "object", properties: { address } }) } },
  });
  const { send } = serving(document);
  const { address: sample } = JSON.parse((await send("GET /a")).text);
  expect(Object.keys(sample).sort()).toEqual(["city", "inner"]);
  expect(sample.inner).toEqual({ country_code: expect.stringMatching(/^[A-Z]{2}$/) });
  const { notes } = documentReader.notes(
    { openapi: { text: JSON.stringify(document) } } as never,
    [],
    new Set(),
  );
  expect(notes).toEqual([expect.stringMatching(/^a address\.inner\.name is left out/)]);
});

test.each([
  ["a lazy repetition", textNamed({ pattern: "^[0-9]{1,3}?$" })],
  ["a minimum length", textNamed({ pattern: "^[a-z]+$", minLength: 40 })],
  ["an exact length", textNamed({ pattern: "^id-[a-f0-9]*$", minLength: 64, maxLength: 64 })],
  ["a maximum length", textNamed({ pattern: "^[a-z]*-[a-z]*$", maxLength: 2 })],
  ["a date and time", textNamed({ format: "date-time", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z$" })],
  ["milliseconds", textNamed({ format: "date-time", pattern: "\\.\\d{3}Z$" })],
])("a required text with a pattern has a sample for any seed: %s", async (_, name) => {
  for (let seed = 1; seed <= 20; seed++)
    expect(await bodyFor(inner(name, ["name"]), seed)).toMatchObject({ name: expect.any(String) });
});
