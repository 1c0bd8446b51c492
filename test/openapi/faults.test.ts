import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { openApiFile } from "../../src/node/files/load-scenario.js";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Small documents with what public ones have, each of which once broke a correct client.

const text = { type: "string" };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const reading = (more: object) => documentOf({ "/a": { get: { operationId: "a", ...more } } });
const responding = (schema: object, schemas = {}) =>
  documentOf(
    { "/a": { get: { operationId: "a", responses: success(schema) } } },
    { components: { schemas } },
  );

test.each([
  ["members that are named", { type: "object", properties: { a: text }, additionalProperties: false }],
  ["patterns of names", { type: "object", patternProperties: { "^x": text }, additionalProperties: false }],
  ["a limit of members", { type: "object", properties: { a: text, b: text }, maxProperties: 2 }],
  ["needed members", { type: "object", properties: { a: text, b: text }, dependentRequired: { a: ["b"] } }],
  ["a choice", { type: "object", properties: { a: text, b: text }, anyOf: [{ required: ["a"] }] }],
  [
    "unevaluated members",
    { allOf: [{ properties: { a: text } }], type: "object", unevaluatedProperties: false },
  ],
])("a varied response with %s is valid for its schema", async (_, schema) => {
  const { ask } = serving(responding(schema), { assumptions: { profile: "varied" } });
  const isValid = new Ajv2020({ strict: false }).compile(schema);
  for (let number = 0; number < 20; number++) expect(isValid((await ask("GET /a")).body)).toBe(true);
});

test.each(["400", "4XX", "4xx", "default"])(
  "an invalid request gets the documented %s, in its media type",
  async (status) => {
    const problem = {
      type: "object",
      required: ["title"],
      properties: { title: text },
      additionalProperties: false,
    };
    const responses = {
      ...success({}),
      [status]: { description: "", ...content(problem, "application/problem+json") },
    };
    const parameters = [{ name: "n", in: "query", required: true, schema: { type: "integer" } }];
    const { send } = serving(reading({ parameters, responses }));
    expect(await send("GET /a")).toMatchObject({
      status: 400,
      type: "application/problem+json",
      text: '{"title":"string"}',
      note: "query.n is missing",
    });
  },
);

test("merge keys of YAML are merged", async () => {
  const yaml = `openapi: 3.1.0
info: { title: a, version: b }
x-base: &base { type: object, required: [a], properties: { a: { const: 1 } } }
paths:
  /a:
    get:
      operationId: a
      responses: { "200": { description: "", content: { application/json: { schema: { <<: *base }, example: { <<: { a: 1 } } } } } }
`;
  expect((await serving(yaml as never).send("GET /a")).text).toBe('{"a":1}');
});

const twoFiles = {
  "api.yaml": `openapi: 3.1.0
info: { title: a, version: b }
paths: { /a: { $ref: paths/a.yaml }, /b: { $ref: 'paths/b_{id}.yaml' }, /c: { $ref: ../outside.yaml } }
components: { schemas: { Id: { const: 7 } } }
`,
  "paths/a.yaml": `get:
  operationId: a
  responses: { "200": { description: "", content: { application/json: { schema: { $ref: "../schemas.json#/Pet" } } } } }
`,
  "paths/b_{id}.yaml": `get: { operationId: b, responses: { "204": { description: "" } } }\n`,
  "schemas.json":
    '{ "Pet": { "type": "object", "required": ["id"], "properties": { "id": { "$ref": "api.yaml#/components/schemas/Id" } } } }',
};

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), "documents");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

test("a document of several files is served from its folder, and from no other", async () => {
  const folder = folderWith(twoFiles);
  const outside = 'get: { operationId: c, responses: { "204": { description: "" } } }';
  writeFileSync(join(folder, "../outside.yaml"), outside);
  symlinkSync(join(folder, "../outside.yaml"), join(folder, "outside.yaml"));
  const openapi = openApiFile("api.yaml", folder);
  expect(Object.keys(openapi.files ?? {}).sort()).toEqual([
    "paths/a.yaml",
    "paths/b_{id}.yaml",
    "schemas.json",
  ]);
  const { send } = serving(undefined, { openapi });
  expect((await send("GET /a")).text).toBe('{"id":7}');
  expect((await send("GET /b")).status).toBe(204);
  expect((await send("GET /c")).status).toBe(404);
  expect(documentReader.notes({ openapi }, new Set()).notes.join()).toContain(
    '"../outside.yaml" is a $ref to a file',
  );
});

test("a mistake in another file is a problem with its name, line and column", () => {
  const openapi = openApiFile("api.yaml", folderWith({ ...twoFiles, "paths/a.yaml": "get:\n  a: [\n" }));
  const problem = expect.objectContaining({
    code: "yaml_syntax",
    file: "paths/a.yaml",
    line: expect.any(Number),
  });
  expect(() => documentReader.endpoints({ openapi })).toThrow(
    expect.objectContaining({ problems: [problem] }),
  );
});

test("headers of the connection are not the document's, and others need a value or are required", async () => {
  const header = (schema: object, more = {}) => ({ schema: { ...text, ...schema }, ...more });
  const headers = {
    "Transfer-Encoding": header({ default: "chunked" }),
    Connection: header({ enum: ["close"] }),
    "Content-Length": header({ example: "999" }),
    "X-Default": header({ default: "a" }),
    "X-Only": header({ enum: ["b"] }),
    "X-Required": header({}, { required: true }),
    "X-Optional": header({}),
  };
  const responses = { 200: { description: "", headers, ...content({ const: 1 }) } };
  const scenario = {
    version: 1,
    organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  };
  const openapi = { text: JSON.stringify(reading({ responses })) };
  const { url, sandbox } = await served({ scenario: { ...scenario, openapi } as never });
  const response = await fetch(`${url}/a`, { headers: { "x-api-key": sandbox.secret("main" as never) } });
  expect(await response.text()).toBe("1");
  const sent = Object.fromEntries(response.headers);
  expect(sent).toMatchObject({
    "content-length": "1",
    "x-default": "a",
    "x-only": "b",
    "x-required": "string",
  });
  expect(sent).not.toHaveProperty("x-optional");
  expect(sent).not.toHaveProperty("transfer-encoding");
});

test("a documented HEAD has its own response, and another one that of GET", async () => {
  const get = { operationId: "a", responses: success({ const: 1 }) };
  const head = { operationId: "exists", responses: { 204: { description: "" } } };
  const { send } = serving(documentOf({ "/a": { get, head }, "/b": { get: { ...get, operationId: "b" } } }));
  expect([(await send("HEAD /a")).status, (await send("HEAD /b")).status]).toEqual([204, 200]);
  expect((await send("GET /a")).text).toBe("1");
});

test("a built-in operation of a document stays built in, with a note", async () => {
  const path = "/v1/relying-party/me";
  const document = documentOf({ [path]: { get: { operationId: "me", responses: success({ const: 1 }) } } });
  const { notes } = documentReader.notes({ openapi: { text: JSON.stringify(document) } }, new Set());
  expect(notes).toContain(`GET ${path} is built in, and the document does not change it.`);
  expect((await serving(document).ask(`GET ${path}`)).body.data.environment).toBe("test");
});

test("a mismatch names its place in our words", async () => {
  const price = { type: "number", minimum: 0 };
  const items = { type: "array", items: { type: "object", properties: { price } } };
  const post = { requestBody: content({ type: "object", properties: { items } }), responses: success({}) };
  const { ask } = serving(documentOf({ "/a": { post } }));
  const { body } = await ask("POST /a", { body: { items: [{}, {}, { price: -1 }] } });
  expect(body.error.details.fields).toEqual({ "body.items[2].price": "must be at least 0" });
});

test("a recursive type has a sample", async () => {
  const Node = { type: "object", required: ["name"], properties: { name: text, next: ref("Node") } };
  const { body } = await serving(responding(ref("Node"), { Node })).ask("GET /a");
  expect(body.name).toBe("string");
});
