import { expect, test } from "vitest";
import { builtIn } from "../../src/api/routes.js";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";

// What a document has and the sandbox does not read: it is served, with a note.

const operation = (more: object = {}) => ({
  get: { operationId: "a", responses: success({ enum: [1] }), ...more },
});
const withOperation = (more: object) => documentOf({ "/a": operation(more) });
const withRoot = (more: object) => documentOf({ "/a": operation() }, more);
const withSchema = (schema: object) => withRoot({ components: { schemas: { A: schema } } });
const old = (schema: object) => ({ ...withSchema(schema), openapi: "3.0.3" });

const notesOf = (document: object) =>
  documentReader.notes({ openapi: { text: JSON.stringify(document) } }, builtIn, new Set()).notes;

test.each<[string, object, string]>([
  [
    "const in 3.0",
    old({ const: 1 }),
    'components.schemas.A is not valid OpenAPI: must not have the member "const".',
  ],
  ["examples in 3.0", old({ examples: [1] }), 'must not have the member "examples".'],
  [
    "patternProperties in 3.0",
    old({ patternProperties: {} }),
    'must not have the member "patternProperties".',
  ],
  ["$id in 3.0", old({ $id: "a" }), 'must not have the member "$id".'],
  ["$comment in 3.0", old({ $comment: "a" }), 'must not have the member "$comment".'],
  [
    "a number that excludes in 3.0",
    old({ exclusiveMinimum: 0 }),
    "components.schemas.A.exclusiveMinimum is not valid OpenAPI: must be boolean.",
  ],
  [
    "a list of types in 3.0",
    old({ type: ["string", "null"] }),
    "components.schemas.A.type is not valid OpenAPI: must be",
  ],
  [
    "a version that is a number",
    withRoot({ info: { title: "", version: 1 } }),
    "info.version is not valid OpenAPI: must be string.",
  ],
  ["no title", withRoot({ info: { version: "" } }), 'info is not valid OpenAPI: "title" is missing.'],
  ["no info", withRoot({ info: undefined }), "info is not valid OpenAPI: must be object."],
  [
    "a parameter with a title",
    withOperation({ parameters: [{ name: "a", in: "query", title: "", schema: {} }] }),
    'parameters[0] is not valid OpenAPI: must not have the member "title".',
  ],
  [
    "a parameter without a place",
    withOperation({ parameters: [{ name: "a" }] }),
    'parameters[0] is not valid OpenAPI: "in" is missing.',
  ],
  [
    "a summary that is null",
    withOperation({ summary: null }),
    "paths./a.get.summary is not valid OpenAPI: must be string.",
  ],
  [
    "a response without a description",
    withOperation({ responses: { 200: content({ enum: [1] }) } }),
    'responses.200 is not valid OpenAPI: "description" is missing.',
  ],
  [
    "a license without a name",
    withRoot({ info: { title: "", version: "", license: {} } }),
    'info.license is not valid OpenAPI: "name" is missing.',
  ],
  [
    "equal tags",
    { ...withRoot({ tags: [{ name: "a" }, { name: "a" }] }), openapi: "3.0.3" },
    "tags is not valid OpenAPI: must not have equal items.",
  ],
  ["servers that are none", withRoot({ servers: {} }), "servers is not valid OpenAPI: must be array."],
  [
    "a description elsewhere",
    withOperation({ description: { $ref: "a.md" } }),
    "paths./a.get.description is not valid OpenAPI: must be string.",
  ],
  [
    "callbacks elsewhere",
    withOperation({ callbacks: { b: { $ref: "b.yaml" } } }),
    "a has callbacks, which are not sent.",
  ],
  ["webhooks", withRoot({ webhooks: {} }), "The document has webhooks, which are not sent."],
  [
    "another file",
    withSchema({ $ref: "b.yaml#/b" }),
    'components.schemas.A has a $ref to another file or an $id, and neither is followed: "b.yaml#/b".',
  ],
  [
    "an id",
    withSchema({ $id: "https://a.example/b", $ref: "https://a.example/b" }),
    "has a $ref to another file or an $id, and neither is followed",
  ],
  [
    "an anchor",
    withSchema({ $anchor: "b", items: { $ref: "#b" } }),
    'components.schemas.A has a $ref to an anchor, and anchors are not followed: "#b".',
  ],
  [
    "a reference with a typo",
    withSchema({ $ref: "#/components/schemas/B" }),
    'components.schemas.A has a $ref to a part that the document does not have: "#/components/schemas/B".',
  ],
  [
    "a reference to itself",
    withSchema({ $ref: "#/components/schemas/A" }),
    "components.schemas.A has a $ref that leads back to itself",
  ],
  [
    "a reference that is no text",
    withSchema({ $ref: 1 }),
    "components.schemas.A has a $ref that is not a text: 1.",
  ],
  [
    "a wrong type",
    withOperation({ parameters: [{ name: "a", in: "query", schema: { type: "text" } }] }),
    "schema has a keyword that is not valid, and not read: type must be one of",
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
  [
    "a version without its last part",
    { ...withRoot({}), openapi: "3.1" },
    "openapi is not valid OpenAPI: must match pattern",
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
  expect((await send("GET /a")).text).toBe('{"__proto__":1}');
  expect(({} as { a?: unknown }).a).toBeUndefined();
});

test("an empty list of servers is served at the root", async () => {
  for (const openapi of ["3.0.3", "3.1.0"]) {
    const { send } = serving({ ...withRoot({ servers: [] }), openapi });
    expect((await send("GET /a")).text).toBe("1");
  }
});
