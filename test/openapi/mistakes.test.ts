import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtIn } from "../../src/api/endpoints.js";
import { openApiFile } from "../../src/node/files/load-scenario.js";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Mistakes that documents are published with: each is a problem or a note with its place.

const operation = (more: object = {}) => ({ get: { operationId: "a", responses: success({}), ...more } });
const id = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
const integers = { type: "integer" };
const ofSchema = (schema: object) => documentOf({ "/a": operation({ responses: success(schema) }) });

function readingOf(document: unknown, file = "api.yaml") {
  const openapi = { file, text: typeof document === "string" ? document : JSON.stringify(document) };
  try {
    return { notes: documentReader.notes({ openapi }, new Set()).notes };
  } catch (error) {
    return { problems: (error as { problems: readonly object[] }).problems };
  }
}

test.each([
  [
    "a path parameter that is not declared",
    documentOf({ "/a/{id}": operation() }),
    /^a accepts any value of a parameter that is not declared: \{id\}/,
  ],
  [
    "two paths that differ only in a name",
    documentOf({
      "/a/{id}": operation({ parameters: [id("id")] }),
      "/a/{key}": { get: { responses: success({}) } },
    }),
    /^GET \/a\/\{key\} is not served: GET \/a\/\{id\} differs only/,
  ],
  [
    "a duplicate operation id",
    documentOf({ "/a": operation(), "/b": operation() }),
    /^GET \/b gets another operation id, because its own is taken: a-2/,
  ],
  [
    "an example of a parameter that does not fit",
    documentOf({
      "/a": operation({
        parameters: [{ name: "n", in: "query", schema: integers, example: "ten" }],
      }),
    }),
    /^a n example does not fit its schema: must be integer/,
  ],
  [
    "an example of a request body that does not fit",
    documentOf({
      "/a": operation({
        requestBody: content({ type: "object", required: ["n"] }, "application/json", { example: {} }),
      }),
    }),
    /^a body example does not fit its schema: n is missing/,
  ],
  [
    "an example that does not fit",
    documentOf({
      "/a": operation({
        responses: success({ type: "object", properties: { n: integers } }, "application/json", {
          example: { n: "1" },
        }),
      }),
    }),
    /^a example does not fit its schema: n must be integer/,
  ],
  [
    "an example that does not fit at a name that is not ASCII",
    documentOf({
      "/a": operation({
        responses: success({ type: "object", properties: { größe: { minimum: 1 } } }, "application/json", {
          example: { größe: 0 },
        }),
      }),
    }),
    /schema: größe must be at least 1/,
  ],
  [
    "a pattern that is none",
    ofSchema({ type: "string", pattern: "[" }),
    /^a?.*schema\.pattern has a keyword/,
  ],
  [
    "a pattern of nested repetitions",
    ofSchema({ type: "string", pattern: "(a+)+" }),
    /not checked: pattern "\(a\+\)\+"/,
  ],
  [
    "OpenAPI 3.2",
    { ...documentOf({ "/a": operation() }), openapi: "3.2.0" },
    /^The document is OpenAPI 3\.2/,
  ],
])("%s is a note", (_, document, note) => {
  expect(readingOf(document).notes).toEqual(expect.arrayContaining([expect.stringMatching(note)]));
});

test("a scope that no key has is a note", () => {
  const get = { operationId: "a", responses: success({}), "x-required-scope": "loans:read" };
  const document = documentOf({ "/a": { get } });
  const notesFor = (...scopes: string[]) =>
    documentReader.notes({ openapi: { text: JSON.stringify(document) } }, new Set(scopes)).notes.join();
  expect(notesFor("other")).toContain(
    "a needs a scope that no key has: add it to a key's scopes: loans:read",
  );
  expect(notesFor("loans:read")).not.toContain("loans:read");
});

test("a note shows only the start of a long reference", () => {
  const { notes } = readingOf(ofSchema({ $ref: `#/${"x".repeat(5000)}` }));
  expect(JSON.stringify(notes).length).toBeLessThan(1000);
});

test("a document of OpenAPI 3.0 may have steps below 1", () => {
  const old = { ...ofSchema({ type: "number", multipleOf: 0.01 }), openapi: "3.0.3" };
  expect(readingOf(old).problems).toBeUndefined();
});

test("JSON with a comma too many is a problem where it is", () => {
  const text = '{\n "openapi": "3.1.0",\n "info": { "title": "", "version": "", },\n "paths": {} }';
  expect(readingOf(text, "api.json").problems).toEqual([
    expect.objectContaining({
      code: "yaml_syntax",
      line: 3,
      column: 38,
      hint: expect.stringContaining("comma"),
    }),
  ]);
});

test("serious notes are first, and equal ones are one note", () => {
  const many = Object.fromEntries(
    Array.from({ length: 7 }, (_, at) => [
      `/p${at}/{id}`,
      { get: { operationId: `p${at}`, responses: success({}) } },
    ]),
  );
  const document = documentOf({ ...many, "/x{a}{b}": operation() });
  const [first, ...others] = readingOf(document).notes ?? [];
  expect(first).toContain("/x{a}{b} is not served");
  expect(others.at(-1)).toBe(
    "7 operations accept any value of a parameter that is not declared: p0 ({id}), p1 ({id}), p2 ({id}), p3 ({id}), p4 ({id}) and 2 more.",
  );
});

test("notes of one kind are one note with the reasons of the first", () => {
  const schema = { type: "object", required: ["n"], properties: { n: integers } };
  const examples = [{}, { n: "1" }, { n: null }, [], 1, "x"];
  const paths = examples.map((example, at) => {
    const responses = success(schema, "application/json", { example });
    return [`/p${at}`, { get: { operationId: `p${at}`, responses } }];
  });
  expect(readingOf(documentOf(Object.fromEntries(paths))).notes).toContainEqual(
    expect.stringMatching(
      /^6 examples do not fit their schemas: p0 example \(n is missing\), .*, p4 example \(.*\) and 1 more\.$/,
    ),
  );
});

test("a fault with a status that neither the document nor a failure has is a problem", () => {
  const responses = { ...success({}), 409: { description: "" } };
  const start = (status: number | undefined, path_id?: `200.${string}`) => () =>
    serving(documentOf({ "/a": operation({ responses }) }), {
      faults: [{ when: { ...(path_id && { path_id }) }, then: status ? { status } : { latency: "1s" } }],
    });
  const problems = [expect.objectContaining({ code: "bad_choice", path: "faults[0].then.status" })];
  for (const path of ["200.a", undefined] as const)
    expect(start(408, path)).toThrow(expect.objectContaining({ problems }));
  expect(start(409)).not.toThrow();
  for (const status of [409, 503, undefined]) expect(start(status, "200.a")).not.toThrow();
});

test("a replacement character in a text is one, and bytes that are not UTF-8 are a problem with their place", () => {
  const folder = temporaryFolder();
  const text = 'openapi: 3.1.0\ninfo: { title: "\uFFFD", version: b }\npaths: {}\n';
  writeFileSync(join(folder, "fine.yaml"), text);
  expect(documentReader.endpoints({ openapi: openApiFile("fine.yaml", folder) }).length).toBe(builtIn.length);
  const bytes = Buffer.from(text.replace("\uFFFD", "?"));
  bytes[bytes.indexOf("?")] = 0xff;
  writeFileSync(join(folder, "wrong.yaml"), bytes);
  const problem = expect.objectContaining({ code: "not_text", line: 2, column: 17 });
  expect(() => documentReader.endpoints({ openapi: openApiFile("wrong.yaml", folder) })).toThrow(
    expect.objectContaining({ problems: [problem] }),
  );
});

test("a tag for a number makes one", async () => {
  const content = "{ application/json: { schema: { const: 1 }, example: !!float 1 } }";
  const get = `{ operationId: a, responses: { '200': { description: '', content: ${content} } } }`;
  const text = `openapi: 3.1.0\ninfo: { title: a, version: b }\npaths: { /a: { get: ${get} } }\n`;
  expect((await serving(text as never).send("GET /a")).text).toBe("1");
});

test.each(["__proto__", "constructor", "toString"])("the format %s is an unknown one", async (format) => {
  const { text } = await serving(ofSchema({ type: "string", format })).send("GET /a");
  expect(text).toBe('"string"');
});

test.each(["matrix", "label"])(
  "an operation with a path parameter of the style %s is not served, with a note",
  (style) => {
    const get = operation({ parameters: [{ ...id("id"), style }] });
    const { notes = [] } = readingOf(documentOf({ "/a/{id}": get }));
    expect(notes).toContain(`GET /a/{id} is not served: the style ${style} of {id} is not read.`);
  },
);
