import { expect, test } from "vitest";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";

// What a document has and the sandbox does not read: it is served, with a note.

const operation = (more: object = {}) => ({
  get: { operationId: "a", responses: success({ enum: [1] }), ...more },
});
const withOperation = (more: object) => documentOf({ "/a": operation(more) });
const withRoot = (more: object) => documentOf({ "/a": operation() }, more);
const sends = ($ref: string) => ({ requestBody: content({ $ref }) });
const own = {
  ...withOperation(sends("#/components/schemas/A")),
  components: { schemas: { A: { $ref: "#/components/schemas/A" } } },
};

const notesOf = (document: object) =>
  documentReader.notes({ openapi: { text: JSON.stringify(document) } }, new Set()).notes;

test.each<[string, object, string]>([
  [
    "callbacks elsewhere",
    withOperation({ callbacks: { b: { $ref: "b.yaml" } } }),
    "a has callbacks, which are not sent.",
  ],
  ["webhooks", withRoot({ webhooks: {} }), "The document has webhooks, which are not sent."],
  [
    "another file",
    withOperation(sends("b.yaml#/b")),
    '"b.yaml#/b" is a $ref to a file that is not in the folder',
  ],
  [
    "an anchor",
    withOperation(sends("#b")),
    "is a $ref to a file that is not in the folder of the document, to an $id",
  ],
  [
    "a reference with a typo",
    withOperation(sends("#/components/schemas/B")),
    '"#/components/schemas/B" is a $ref to a part that the document does not have.',
  ],
  ["a reference to itself", own, '"#/components/schemas/A" is a $ref that leads back to itself.'],
  [
    "a wrong type",
    withOperation({ parameters: [{ name: "a", in: "query", schema: { type: "text" } }] }),
    "schema has a keyword that is not checked: type.",
  ],
  [
    "a method that is not read",
    documentOf({ "/a": { ...operation(), options: operation().get } }),
    "OPTIONS /a is not served: the method OPTIONS is not read.",
  ],
  [
    "a path of the sandbox",
    documentOf({ "/a": operation(), "/__sandbox/keys": operation() }),
    "GET /__sandbox/keys is not served: the sandbox needs its path itself.",
  ],
  [
    "a path without a slash",
    documentOf({ "/a": operation(), b: operation() }),
    "GET b is not served: its path does not start with a slash.",
  ],
  [
    "a misspelled path parameter",
    documentOf({ "/a": operation({ parameters: [{ name: "ID", in: "path", required: true, schema: {} }] }) }),
    "a declares a parameter that its path does not have: {ID}.",
  ],
])("a document with %s is served, with a note", async (_, document, note) => {
  expect(await serving(document).send("GET /a")).toMatchObject({ status: 200, text: "1" });
  expect(notesOf(document)).toContainEqual(expect.stringContaining(note));
});

test("a member of any name is only a member", async () => {
  const schema = JSON.parse(
    '{"type":"object","required":["__proto__"],"properties":{"__proto__":{"const":1}}}',
  );
  const { send } = serving(documentOf({ "/a": operation({ responses: success(schema) }) }));
  expect((await send("GET /a")).status).toBe(200);
  expect(({} as { a?: unknown }).a).toBeUndefined();
});

test("an empty list of servers is served at the root", async () => {
  for (const openapi of ["3.0.3", "3.1.0"]) {
    const { send } = serving({ ...withRoot({ servers: [] }), openapi });
    expect((await send("GET /a")).text).toBe("1");
  }
});
