import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { reportShape } from "../../src/report/report-shape.js";
import { explainedRequestShape } from "../../src/report/request-text.js";
import { requestShape } from "../../src/sandbox/journal/exchange.js";
import { reservedKeyRefs } from "../../src/scenario/format/fields.js";
import { controlBodies } from "../../src/scenario/format/inputs.js";
import { fieldsOf, type Shape, shapeAt } from "../../src/schema/shape.js";
import { shapeInJson } from "../../src/schema/spelling.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { exchange } from "../support/exchange.js";
import { blockWith, memberWordsIn, pageOf, sectionOf, wordsOfValue } from "../support/pages.js";
import { serveControl } from "./client.js";
import { fullestBodies, responseOf } from "./observed-responses.js";

// A call's members in docs/control-plane.openapi.json are its response's members, no fewer and no more.

const openApi = JSON.parse(pageOf("docs/control-plane.openapi.json"));

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly required?: readonly string[];
  readonly items?: ObjectSchema;
}

/** The schema of a call's `data`, of its items, or of a response without it. */
function itemSchema(call: string): ObjectSchema | undefined {
  const [method = "", path = ""] = call.split(" ");
  const { responses } = openApi.paths[path][method.toLowerCase()];
  const { schema } = (responses[200] ?? responses[201])?.content?.["application/json"] ?? {};
  const data = schema?.properties?.data ?? schema;
  return data?.items ?? data;
}

/** The members of a call's response, with a question mark for those that can be left out. */
function membersOf(call: string): string[] {
  const { properties = {}, required = [] } = itemSchema(call) ?? {};
  return Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
}

const documented = routes
  .map(({ method, path }) => `${method} ${path}`)
  .filter((call) => membersOf(call).length > 0);

/** The fields of a shape in JSON, as the page has them: with a question mark for those that can be left out. */
function fieldNames(shape: Shape): string[] {
  const fields = Object.entries(fieldsOf(shapeInJson(shape)) ?? {});
  return fields.map(([name, field]) => ("optional" in field ? `${name}?` : name));
}

const faultShape = shapeAt(controlBodies.faults_change, ["faults", 0]) as Shape;
const ofReport = fieldNames(reportShape).filter((name) => name !== "runs?"); // only merged reports have it

test.each<[call: string, members: readonly string[]]>([
  ["GET /requests", fieldNames(requestShape)],
  ["GET /requests/{id}", fieldNames(explainedRequestShape)],
  ["GET /report", [...ofReport, "from_story?", "in_journal?"]],
  ["GET /faults", fieldNames(faultShape)],
  ["PUT /faults", fieldNames(faultShape)],
])("the documented members of %s are those of its shape", (call, members) => {
  expect(membersOf(call).sort()).toEqual([...members].sort());
});

test("a HEAD has the length and the encoding that a GET would have", async () => {
  const { server } = await serveControl();
  for (const encoding of ["gzip", "identity"]) {
    for (const path of ["/openapi.json", "/clock", "/", "/docs/README"]) {
      const asking = { path: `/__sandbox${path}`, headers: { "accept-encoding": encoding } };
      const got = await exchange(server.url, asking);
      const head = await exchange(server.url, { ...asking, method: "HEAD" });
      for (const name of ["content-length", "content-encoding", "content-type"]) {
        expect([path, name, head.headers[name]]).toEqual([path, name, got.headers[name]]);
      }
      const isLong = path === "/openapi.json";
      if (isLong && encoding === "gzip") expect(head.headers["content-encoding"]).toBe("gzip");
    }
  }
});

test("every other member that a response can leave out is in some response", async () => {
  const fullest = await fullestBodies();
  const left = documented.filter((call) => membersOf(call).some((name) => name.endsWith("?")));
  const ofShapes = ["GET /requests", "GET /requests/{id}", "GET /faults", "PUT /faults"];
  expect(left.sort()).toEqual([...Object.keys(fullest), ...ofShapes].sort());
  for (const [call, body] of Object.entries(fullest)) {
    const response = "data" in body ? (body.data as object) : body;
    expect(Object.keys(response).sort()).toEqual(
      membersOf(call)
        .map((name) => name.replace("?", ""))
        .sort(),
    );
  }
});

const callSections = [...pageOf("docs/calls.md").matchAll(/^## (.+)\n/gm)].map(([, title = ""]) => title);

/** Words of the page's prose that no response here has: a command, a function, and a member of keys in scenarios and steps. */
const otherWords = ["exec", "startServer", "secret"];

test.each(callSections)(
  "the prose of %s names only members, fields and values of its calls",
  async (title) => {
    const text = sectionOf("docs/calls.md", title);
    const { ask } = await serveControl();
    const { body: unexpected } = await ask("/expect?outcome=401.revoked");
    const known = new Set<string>([...otherWords, ...reservedKeyRefs, ...wordsOfValue(unexpected)]);
    for (const { method, path, query, body } of routes) {
      const call = `${method} ${path}`;
      if (!text.includes(`\`${call}\``)) continue;
      const inputs = [query, body && controlBodies[body]].map((shape) => shape && fieldsOf(shape));
      for (const fields of inputs) for (const name of Object.keys(fields ?? {})) known.add(name);
      const response = documented.includes(call) ? (await responseOf(call)).body : {};
      for (const word of [...wordsOfValue(response), ...membersOf(call)]) known.add(word.replace("?", ""));
    }
    expect(memberWordsIn(text).filter((word) => !known.has(word))).toEqual([]);
  },
);

test("the page has every member of a key's next request", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const { next_request: next } = (await ask("/keys/active")).body.data;
  const shown = JSON.parse(blockWith("docs/calls.md", "json", "fault_outcomes"));
  expect(Object.keys(shown)).toEqual(Object.keys(next));
});

test("a ref that stands for no key of the sandbox has the three members that the prose has", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const [sentence = ""] = /^`GET \/keys\/\{ref\}` of `none`.*$/m.exec(pageOf("docs/calls.md")) ?? [];
  for (const ref of reservedKeyRefs) {
    const { body } = await ask(`/keys/${ref}`);
    expect(memberWordsIn(sentence)).toEqual([...reservedKeyRefs, ...Object.keys(body.data)]);
  }
});

test("an unknown ref is not found in a path or a query, and not valid in a body, as the page of errors has it", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const write = (path: string, json: object) => ask(path, { method: "POST", json });
  const ofPaths = [
    await ask("/keys/nosuch"),
    await ask("/organizations/nosuch"),
    await ask("/requests?key=nosuch"),
    await write("/keys/nosuch/rotate", {}),
  ];
  const ofBodies = [
    await write("/send", { key: "nosuch" }),
    await write("/keys", { organization: "nosuch", environment: "test", name: "CI" }),
  ];
  const shown = ({ status, body }: (typeof ofPaths)[number]) => `${status} \`${body.error.code}\``;
  const [row = ""] = /^\| `unknown_ref` .*$/m.exec(pageOf("docs/errors.md")) ?? [];
  expect(new Set(ofPaths.map(shown))).toEqual(new Set(["404 `not_found`"]));
  expect(new Set(ofBodies.map(shown))).toEqual(new Set(["422 `validation_failed`"]));
  for (const response of [...ofPaths, ...ofBodies]) expect(row).toContain(shown(response));
});

test.each(documented)("%s has the documented members, and fits its schema", async (call) => {
  const { status, body } = await responseOf(call);
  expect(status).toBeLessThan(300);
  const data = body.data ?? body;
  const items: object[] = Array.isArray(data) ? data : [data];
  expect(items).not.toEqual([]);
  const members = membersOf(call);
  const required = members.filter((name) => !name.endsWith("?"));
  const names = members.map((name) => name.replace("?", ""));
  for (const item of items) {
    expect(Object.keys(item)).toEqual(expect.arrayContaining(required));
    expect(names).toEqual(expect.arrayContaining(Object.keys(item)));
  }
  const [method = "", path = ""] = call.split(" ");
  const { responses } = openApi.paths[path][method.toLowerCase()];
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    responses[status].content["application/json"].schema,
  );
  validate(body);
  expect(validate.errors).toBeNull();
});

test("every call is documented, except those with a text, a whole document or nothing", () => {
  const others = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((call) => !documented.includes(call));
  expect(others.sort()).toEqual([
    "DELETE /requests",
    "GET /",
    "GET /docs/{page}",
    "GET /openapi.json",
    "GET /revision",
    "GET /scenario",
    "GET /scenario.schema.json",
  ]);
  expect(documented.length).toBe(new Set(documented).size);
});
