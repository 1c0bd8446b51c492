import { expect, test } from "vitest";
import { content, documentOf, serving } from "../support/documents.js";

// Bodies whose check ends soon, although it would try each combination of alternatives.

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const named = (name: string, schemas: object) => ({ schema: ref(name), schemas });
const nested = (levels: number, inner: unknown, wrap: (inner: unknown) => unknown): unknown =>
  levels === 0 ? inner : wrap(nested(levels - 1, inner, wrap));

const list = {
  type: "object",
  required: ["all"],
  properties: { all: { type: "array", items: ref("Filter") } },
};
const leaf = {
  type: "object",
  required: ["field"],
  properties: { field: { type: "string" } },
  additionalProperties: false,
};
const filter = named("Filter", {
  Filter: { oneOf: [ref("And"), ref("Or"), ref("Leaf")] },
  And: list,
  Or: list,
  Leaf: leaf,
});
const lists = named("A", { A: { type: "array", items: { anyOf: [ref("A"), ref("A"), ref("A")] } } });
const itself = named("A", { A: { allOf: [ref("A")], type: "object" } });
/** An expression with 24 alternatives, each of which may have others in four places. */
const parts = ["left", "right", "init", "argument"];
const kinds = Array.from({ length: 24 }, (_, at) => `K${at}`);
const expression = named("Expression", {
  Expression: { oneOf: kinds.map(ref) },
  ...Object.fromEntries(
    kinds.map((kind) => [
      kind,
      {
        type: "object",
        properties: Object.fromEntries(parts.map((part) => [part, ref("Expression")])),
        required: [kind],
      },
    ]),
  ),
});
const open = (inner: unknown) => Object.fromEntries(parts.map((part) => [part, inner]));

type Body = readonly [name: string, document: typeof filter | { schema: object }, body: unknown];
const bodies: readonly Body[] = [
  ["a wrong filter", filter, nested(7, { wrong: 1 }, (inner) => ({ all: [inner, inner] }))],
  ["a filter of two types", filter, nested(7, { field: "a" }, (inner) => ({ all: [inner] }))],
  ["lists of lists", lists, nested(15, "x", (inner) => [inner])],
  ["a tree of lists", lists, nested(13, 1, (inner) => [inner, inner])],
  ["a type of itself", itself, 1],
  ["a chain of expressions", expression, nested(15, 1, (left) => ({ left }))],
  ["a tree of expressions", expression, nested(6, 1, open)],
  [
    "a long address",
    { schema: { type: "string", format: "url", maxLength: 9 } },
    `http://${"a-".repeat(30_000)}`,
  ],
  [
    "a list of different objects",
    { schema: { uniqueItems: true, maxItems: 1 } },
    Array.from({ length: 5000 }, (_, at) => ({ at })),
  ],
];

const posting = ({ schema, ...more }: { schema: object; schemas?: object }) => {
  const post = { operationId: "a", requestBody: content(schema), responses: { 204: { description: "" } } };
  return serving(documentOf({ "/a": { post } }, { components: more }));
};

test.each(bodies)("%s is rejected, or a note shows that it was not checked", async (_, document, body) => {
  expect(JSON.stringify(body).length).toBeLessThanOrEqual(64 * 1024);
  const { ask, sandbox } = posting(document);
  const { status, body: response } = await ask("POST /a", { body });
  if (status === 204) expect(sandbox.requests.list().at(-1)?.note).toMatch(/^the body was not checked/);
  else expect([status, response.error.details.fields]).toEqual([400, expect.any(Object)]);
});

test("a body has at most 16 levels", async () => {
  const { ask } = posting({ schema: {} });
  expect((await ask("POST /a", { body: nested(16, 1, (inner) => [inner]) })).status).toBe(204);
  const { status, body } = await ask("POST /a", { body: nested(17, 1, (inner) => [inner]) });
  expect([status, body.error.details.reason]).toEqual([400, expect.stringContaining("16 levels")]);
});

test("R46 a key that is the name of a member is shown nowhere", async () => {
  const { ask, sandbox } = posting({ schema: { type: "object", additionalProperties: false } });
  const key = sandbox.secret("main");
  const { status, body } = await ask("POST /a", { body: { [key]: 1 } });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("is not allowed")]);
  expect(JSON.stringify([body, sandbox.requests.list(), sandbox.report()])).not.toContain(key);
});

test.each([
  ["an exact multiple", { type: "integer", multipleOf: 10 }, "5000000010", 204],
  ["almost a multiple", { type: "integer", multipleOf: 10 }, "5000000005", 400],
  ["a multiple with decimals", { type: "number", multipleOf: 0.01 }, "12345678.9", 204],
  ["almost a multiple with decimals", { type: "number", multipleOf: 0.01 }, "12345678.905", 400],
  ["a text that looks like another item", { uniqueItems: true }, '[{"a":1},"\\u0000{\\"a\\":1}"]', 204],
] as const)("%s", async (_, schema, body, status) => {
  const { send } = posting({ schema });
  expect((await send("POST /a", { "content-type": "application/json" }, body)).status).toBe(status);
});

test("a member that is only read is not required, also if a base has it", async () => {
  const Base = { type: "object", properties: { id: { type: "string", readOnly: true }, n: {} } };
  const schema = { allOf: [ref("Base")], required: ["id", "n"] };
  const { ask } = posting({ schema, schemas: { Base } });
  expect((await ask("POST /a", { body: { n: 1 } })).status).toBe(204);
  expect((await ask("POST /a", { body: {} })).status).toBe(400);
});

test("a parameter has at most 16 levels, and a long one is read once", async () => {
  const filter = { type: "object", properties: { and: ref("Filter") } };
  const inQuery = (name: string, schema: object) => ({ name, in: "query", schema });
  const parameters = [inQuery("and", ref("Filter")), inQuery("limit", { type: "integer" })];
  const get = { operationId: "a", parameters, responses: { 204: { description: "" } } };
  const { ask } = serving(documentOf({ "/a": { get } }, { components: { schemas: { Filter: filter } } }));
  const asked = async (name: string, value: string) =>
    (await ask(`GET /a?${name}=${encodeURIComponent(value)}`)).status;
  expect(await asked("and", '{"and":{}}')).toBe(204);
  expect(await asked("and", `${'{"and":'.repeat(1500)}{}${"}".repeat(1500)}`)).toBe(400);
  expect(await asked("limit", `${"1".repeat(60_000)}x`)).toBe(400);
});
