import { describe, expect, test } from "vitest";
import { content, documentOf, serving } from "../support/documents.js";

// A member of the body names the schema that the body has.

type Schemas = Readonly<Record<string, object>>;

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: object, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
});
const text = { type: "string" };
const chooses = (mapping?: object) => ({
  discriminator: { propertyName: "kind", ...(mapping && { mapping }) },
});

const card = object({ kind: text, number: text });
const transfer = object({ kind: text, iban: text });
const either = (keyword: string, more: object) => ({ [keyword]: [ref("Card"), ref("Transfer")], ...more });
const byParent = (more: object, kind: object = text): Schemas => ({
  Payment: { ...object({ kind }), ...more },
  Card: { allOf: [ref("Payment"), object({ number: text })] },
  Transfer: { allOf: [ref("Payment"), object({ iban: text })] },
});
const mapping = { card: ref("Card").$ref, transfer: "Transfer" };

const forms: Readonly<Record<string, readonly [card: string, transfer: string, schemas: Schemas]>> = {
  "oneOf with mapping": [
    "card",
    "transfer",
    { Payment: either("oneOf", chooses(mapping)), Card: card, Transfer: transfer },
  ],
  "oneOf without mapping": [
    "Card",
    "Transfer",
    { Payment: either("oneOf", chooses()), Card: card, Transfer: transfer },
  ],
  "anyOf with a mapping of one schema": [
    "card",
    "Transfer",
    { Payment: either("anyOf", chooses({ card: "Card" })), Card: card, Transfer: transfer },
  ],
  "oneOf with choices of its schemas": [
    "c",
    "t",
    {
      Payment: either("oneOf", chooses()),
      Card: object({ kind: { enum: ["c"] }, number: text }),
      Transfer: object({ kind: { enum: ["t"] }, iban: text }),
    },
  ],
  "oneOf with a shared enum": [
    "Card",
    "Transfer",
    {
      Payment: either("oneOf", chooses()),
      Kind: { type: "string", enum: ["Transfer", "Card"] },
      Card: object({ kind: ref("Kind"), number: text }),
      Transfer: object({ kind: ref("Kind"), iban: text }),
    },
  ],
  "a parent with mapping": ["card", "transfer", byParent(chooses(mapping))],
  "a parent without mapping": ["Card", "Transfer", byParent(chooses())],
  "a parent with a shared enum": [
    "Card",
    "Transfer",
    byParent(chooses(), { type: "string", enum: ["Transfer", "Card"] }),
  ],
  "a parent with alternatives": ["card", "transfer", byParent(either("oneOf", chooses(mapping)))],
};

const rows = Object.entries(forms).flatMap(([name, form]) =>
  ["3.0.3", "3.1.0"].map((openapi) => ({ name: `${name} in ${openapi}`, openapi, form })),
);

describe.each(rows)("$name", ({ openapi, form: [card, transfer, schemas] }) => {
  const pay = {
    post: {
      operationId: "pay",
      requestBody: { required: true, ...content(ref("Payment")) },
      responses: {
        201: { description: "", ...content({ type: "array", minItems: 1, items: ref("Payment") }) },
      },
    },
    put: {
      operationId: "payByCard",
      requestBody: { required: true, ...content(ref("Card")) },
      responses: { 200: { description: "", ...content(ref("Card")) } },
    },
  };
  const document = { ...documentOf({ "/pay": pay }, { components: { schemas } }), openapi };

  test("a sample has the value of its schema", async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { ask } = serving(document, {}, { seed });
      const { body } = await ask("POST /pay", { body: { kind: card, number: "1" } });
      for (const one of body) {
        expect([card, transfer]).toContain(one.kind);
        expect(one).toHaveProperty(one.kind === card ? "number" : "iban");
      }
    }
  });

  test("a request is checked against the schema that it names", async () => {
    const { ask } = serving(document);
    const send = async (body: object) => {
      const { status, body: response } = await ask("POST /pay", { body });
      return status === 400 ? response.error.details.fields : status;
    };
    expect(await send({ kind: card, number: "1" })).toBe(201);
    expect(await send({ kind: transfer, iban: "1", number: 1 })).toBe(201);
    expect(await send({ kind: transfer, number: "1" })).toEqual({ "body.iban": "is missing" });
    expect(await send({ kind: card, number: 1 })).toEqual({ "body.number": "must be string" });
    expect(await send({ number: "1" })).toEqual({ "body.kind": "is missing" });
    const { "body.kind": message } = (await send({ kind: "cash", number: "1" })) as Record<string, string>;
    for (const name of [card, transfer]) expect(message).toContain(`"${name}"`);
  });
});

/** Serves an operation that takes one of the schemas. */
const taking = (name: string, schemas: Schemas) => {
  const post = { requestBody: content(ref(name)), responses: { 204: { description: "" } } };
  return serving(documentOf({ "/a": { post } }, { components: { schemas } }));
};

test("a schema of a parent has its own value where only it is expected", async () => {
  const schemas = byParent(chooses(mapping));
  const one = { operationId: "read", responses: { 200: { description: "", ...content(ref("Transfer")) } } };
  const put = { ...one, operationId: "put", requestBody: content(ref("Transfer")) };
  const { ask } = serving(documentOf({ "/a": { get: one, put } }, { components: { schemas } }));
  expect((await ask("GET /a")).body).toMatchObject({ kind: "transfer", iban: expect.any(String) });
  expect((await ask("PUT /a", { body: { kind: "card", iban: "1" } })).body.error.details.fields).toEqual({
    "body.kind": 'must be "transfer"',
  });
  expect((await ask("PUT /a", { body: { kind: "transfer", iban: "1" } })).status).toBe(200);
});

test("a type of itself is checked by its names at each level", async () => {
  const schemas = {
    Filter: { ...object({ op: text }), discriminator: { propertyName: "op", mapping: { not: "Not" } } },
    Not: { allOf: [ref("Filter"), object({ of: ref("Filter") })] },
    Is: { allOf: [ref("Filter"), object({ field: text })] },
  };
  const { ask } = taking("Filter", schemas);
  const nested = (levels: number, inner: object): object =>
    levels === 0 ? inner : { op: "not", of: nested(levels - 1, inner) };
  expect((await ask("POST /a", { body: nested(14, { op: "Is", field: "a" }) })).status).toBe(204);
  expect((await ask("POST /a", { body: nested(3, { op: "Is" }) })).body.error.details.fields).toEqual({
    "body.of.of.of.field": "is missing",
  });
});

test.each(["__proto__", "constructor", "toString"])("%s names no schema", async (kind) => {
  const { send } = taking("Payment", byParent(chooses()));
  const type = { "content-type": "application/json" };
  expect((await send("POST /a", type, `{"kind":"${kind}"}`)).status).toBe(400);
});

test("alternatives that no value names are checked one by one", async () => {
  const kind = { type: "string", enum: ["c", "t"] };
  const schemas = {
    Payment: either("oneOf", chooses()),
    Card: object({ kind, number: text }),
    Transfer: object({ kind, iban: text }),
  };
  const { ask } = taking("Payment", schemas);
  expect((await ask("POST /a", { body: { kind: "t", number: "1" } })).status).toBe(204);
  expect((await ask("POST /a", { body: { kind: "t", other: "1" } })).status).toBe(400);
});

test("a member that is not a text names no schema, and a schema of an heir has the value of the heir", async () => {
  const page = { ...object({ items: { type: "array" } }), discriminator: { propertyName: "items" } };
  const kind = { type: "string", enum: ["Card", "Transfer"] };
  const schemas = {
    Page: page,
    Pages: { allOf: [ref("Page"), object({ of: ref("OldCard") })] },
    ...byParent(chooses(), kind),
    OldCard: { allOf: [ref("Card"), object({ old: text })] },
  };
  const get = (name: string) => ({
    get: { operationId: name, responses: { 200: { description: "", ...content(ref(name)) } } },
  });
  const paths = { "/pages": get("Pages"), "/page": get("Page"), "/payment": get("Payment") };
  const { ask } = serving(documentOf(paths, { components: { schemas } }));
  expect((await ask("GET /page")).body.items).toEqual(expect.any(Array));
  const { body } = await ask("GET /pages");
  expect(body).toMatchObject({ items: expect.any(Array), of: { kind: "Card", old: expect.any(String) } });
  expect(["Card", "Transfer"]).toContain((await ask("GET /payment")).body.kind);
});

test("a schema with several own choices is chosen by none, and has one of them", async () => {
  const kind = { type: "string", enum: ["in", "out"] };
  const schemas = {
    ...byParent(chooses()),
    Wire: { allOf: [ref("Payment"), { properties: { kind } }] },
  };
  const post = {
    requestBody: content(ref("Wire")),
    responses: { 200: { description: "", ...content(ref("Wire")) } },
  };
  const { ask } = serving(documentOf({ "/a": { post } }, { components: { schemas } }));
  const { status, body } = await ask("POST /a", { body: { kind: "out" } });
  expect([status, ["in", "out"].includes(body.kind)]).toEqual([200, true]);
  expect((await ask("POST /a", { body: { kind: "Card", number: "1" } })).status).toBe(400);
});

test.each([
  ["members", { properties: null }],
  ["choices", { properties: { kind: { enum: "Card" } } }],
  ["parts", { allOf: [null, { properties: [] }] }],
])("an heir whose %s are not valid is served", async (_, heir) => {
  const schemas = { ...byParent(chooses()), Cash: { allOf: [ref("Payment"), heir, heir] } };
  const get = { operationId: "read", responses: { 200: { description: "", ...content(ref("Payment")) } } };
  const { ask } = serving(documentOf({ "/a": { get } }, { components: { schemas } }));
  expect(await ask("GET /a")).toEqual({ status: 200, body: { kind: "Card", number: expect.any(String) } });
});
