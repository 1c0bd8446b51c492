import { expect, test } from "vitest";
import { openApiDocument } from "../../src/index.js";
import { runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// `check --openapi`: a real service compared with a document, and the document with the sandbox.

// biome-ignore lint/suspicious/noExplicitAny: a document in which a test changes something
type Json = any;

/** The sandbox's own document with one more operation, which needs a scope and responds with this example. */
function documentWith(properties: object, example: object, change = (_: Json) => {}) {
  const document: Json = openApiDocument();
  const schema = { type: "object", required: Object.keys(properties), properties };
  document.paths["/v1/relying-party/status"] = {
    get: {
      operationId: "getStatus",
      responses: { 200: { description: "", content: { "application/json": { schema, example } } } },
    },
  };
  change(document);
  return document;
}

const text = { type: "string" };
const published = documentWith({ ready: text }, { ready: "yes" });
const organizations = { bank: { type: "bank", keys: { active: { environment: "test" } } } } as const;

async function check(document: object) {
  const { url, sandbox } = await served({
    scenario: { version: 1, openapi: { text: JSON.stringify(published) }, organizations },
  });
  const cwd = temporaryFolder({ "api.json": JSON.stringify(document) });
  const env = { SVC_KEY_ACTIVE: sandbox.secret("active") };
  const ran = await runCli(["check", url, "--openapi", "api.json", "--format", "json"], { cwd, env });
  const { paths, differences, verdict } = JSON.parse(ran.stdout);
  const places = differences.map(({ path_id, at }: Json) => `${path_id} ${at}`);
  const row = paths.find(({ path_id }: Json) => path_id === "200.getStatus");
  const notes = ran.stderr.trimEnd().split("\n");
  const open = paths.filter(
    ({ path_id, verdict: own }: Json) => path_id.startsWith("20") && own === "not_tried",
  );
  return { code: ran.code, verdict, row: row?.verdict, places, notes, open };
}

test("a service that responds as its document describes agrees, also on an operation that the sandbox does not have", async () => {
  const agrees = { code: 0, verdict: "agrees", row: "agrees", places: [], notes: [""] };
  expect(await check(published)).toMatchObject(agrees);
});

test("an operation that changes something or needs a value in its path is not tried, with the reason", async () => {
  const { open } = await check(
    documentWith({ ready: text }, { ready: "yes" }, ({ paths }) => {
      const responses = { 200: { description: "" } };
      paths["/v1/relying-party/jobs"] = { post: { operationId: "startJob", responses } };
      const parameters = [{ name: "id", in: "path", required: true, schema: text }];
      paths["/v1/relying-party/jobs/{id}"] = { get: { operationId: "readJob", parameters, responses } };
    }),
  );
  const reasons = Object.fromEntries(open.map(({ path_id, reason }: Json) => [path_id, reason]));
  expect(reasons["200.startJob"]).toContain("POST");
  expect(reasons["200.readJob"]).toContain("{id}");
});

test("each difference of the service to the document is listed, and each of the document to the sandbox", async () => {
  const changed = documentWith({ ready: { type: "boolean" }, since: text }, {}, ({ components }) => {
    const { data } = components.schemas.RelyingPartyContext.properties;
    data.properties.limits.properties.per_minute.type = "number";
    delete data.properties.usage;
  });
  expect(await check(changed)).toMatchObject({
    ...{ code: 1, verdict: "differs", row: "differs" },
    places: ["200.getStatus $.ready", "200.getStatus $.since"],
    notes: [
      "GET /v1/relying-party/me: data.limits.per_minute is a number in the document and an integer here.",
      "GET /v1/relying-party/me: data.usage is only here, not in the document.",
    ],
  });
});
