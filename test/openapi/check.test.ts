import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApiDocument } from "../../src/index.js";
import { others } from "../support/coverage.js";
import { root } from "../support/pages.js";
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
const keys = {
  active: { environment: "test" },
  reader: { environment: "test", scopes: ["attestations:read"] },
};
const organizations = { bank: { type: "bank", keys } } as const;

/** Checks a sandbox that serves one document with another, by default the same, and some of its keys. */
async function check(document: string, flags: string[] = [], serves = document, refs = ["active"]) {
  const scenario = { version: 1, openapi: { text: serves }, organizations } as const;
  const { url, sandbox } = await served({ scenario: scenario as Json });
  const cwd = temporaryFolder({ "api.yaml": document });
  const variables = ["SVC_KEY_ACTIVE", "SVC_KEY_RETIRING"];
  const env = Object.fromEntries(refs.map((ref, i) => [variables[i] as string, sandbox.secret(ref)]));
  return runCli(["check", url, "--openapi", "api.yaml", ...flags], { cwd, env });
}

/** The same, with each operation as `GET /path verdict`, and the reasons. */
async function checked(...given: Parameters<typeof check>) {
  const [document, flags = [], ...others] = given;
  const ran = await check(document, [...flags, "--format", "json"], ...others);
  const { differences, verdict, ...report } = JSON.parse(ran.stdout);
  const operations = report.operations.filter(isOfDocument);
  const verdicts = operations.map(({ operation, verdict: own }: Json) => `${operation} ${own}`);
  const places = differences.map(({ path_id, at, rules }: Json) => `${path_id} ${at} ${rules}`);
  const reasons = Object.fromEntries(operations.map(({ operation, reason }: Json) => [operation, reason]));
  return {
    code: ran.code,
    verdict,
    verdicts,
    places,
    reasons,
    notes: ran.stderr.trimEnd().split("\n").filter(isOfMe),
  };
}

/** Not one of another built-in endpoint. */
const isOfMe = (note: string) => others.every(({ path }) => !note.includes(path));
const isOfDocument = ({ operation }: Json) => isOfMe(operation);

const file = (name: string) => readFileSync(join(root, name), "utf8");
const api = "/v1/relying-party";
const styles: Readonly<Record<string, readonly string[]>> = {
  "examples/openapi/relying-party-0.2.0.yaml": [
    `GET ${api}/reports agrees`,
    ...[
      "POST /reports",
      "GET /reports/{report_id}",
      "PATCH /reports/{report_id}",
      "DELETE /reports/{report_id}",
    ].map((one) => `${one.replace(" ", ` ${api}`)} not_tried`),
  ],
  "test/openapi/styles/farms.json": [
    `GET ${api}/farms agrees`,
    `POST ${api}/farms not_tried`,
    `GET ${api}/farms.{format} not_tried`,
    `GET ${api}/farms/{farm_id} agrees`,
    `DELETE ${api}/farms/{farm_id} not_tried`,
    `GET ${api}/farms/{farm_id}/photo not_tried`,
  ],
  "test/openapi/styles/ledger.yaml": [
    `GET ${api}/me/status agrees`,
    `GET ${api}/ledger.csv agrees`,
    `GET ${api}/total not_tried`,
    `GET ${api}/search not_tried`,
    `GET ${api}/ledger/{year}/{month} agrees`,
    `GET ${api}/download not_tried`,
  ],
  "test/openapi/styles/consents.yaml": [
    `GET ${api}/me agrees`,
    `GET ${api}/consent-requests agrees`,
    `GET ${api}/consent-requests/{id} agrees`,
  ],
};

test.each(Object.entries(styles))(
  "a sandbox agrees with its document on every operation that is sent: %s",
  async (name, expected) => {
    const { code, places, verdicts } = await checked(file(name));
    expect([code, places, verdicts]).toEqual([0, [], expected]);
  },
);

test("each operation that is not sent has its reason", async () => {
  const { reasons } = await checked(file("test/openapi/styles/farms.json"));
  expect(reasons).toMatchObject({
    [`DELETE ${api}/farms/{farm_id}`]: expect.stringContaining("DELETE"),
    [`GET ${api}/farms/{farm_id}/photo`]: expect.stringContaining("{farm_id}"),
    [`GET ${api}/farms.{format}`]: expect.stringContaining("{format}"),
  });
  const ledger = file("test/openapi/styles/ledger.yaml");
  const scoped = `GET ${api}/ledger/{year}/{month}`;
  const withoutScope = await checked(ledger, [], ledger, ["reader"]);
  const withoutKey = await checked(ledger, [], ledger, []);
  const overBudget = await checked(ledger, ["--max-requests", "5"]);
  expect([withoutScope, withoutKey, overBudget].map(({ reasons: all }) => all[scoped])).toEqual([
    expect.stringContaining("ledger:read"),
    expect.stringContaining("SVC_KEY_ACTIVE"),
    expect.stringContaining("--max-requests"),
  ]);
  expect(withoutKey.reasons[`GET ${api}/total`]).toContain("unit");
  expect(withoutKey.reasons[`GET ${api}/search`]).toContain("body");
  expect(withoutKey.reasons[`GET ${api}/download`]).toContain("status 200");
});

test("an operation is sent with a working key that has its scope", async () => {
  const ledger = file("test/openapi/styles/ledger.yaml");
  const { verdicts } = await checked(ledger, [], ledger, ["reader", "active"]);
  expect(verdicts).toContain(`GET ${api}/ledger/{year}/{month} agrees`);
});

test("a 404 for the example of a path shows nothing, because the real service may not have it", async () => {
  const farms = file("test/openapi/styles/farms.json");
  const moved = farms.replace('"/farms/{farm_id}": {', '"/farms/{farm_id}/elsewhere": {');
  const { code, reasons } = await checked(farms, [], moved);
  expect([code, reasons[`GET ${api}/farms/{farm_id}`]]).toEqual([0, expect.stringContaining("404")]);
});

test("each difference of the service to the document is listed, and each of the document to the sandbox", async () => {
  const changed = documentWith({ ready: { type: "boolean" }, since: text }, {}, ({ components }) => {
    const { data } = components.schemas.RelyingPartyContext.properties;
    data.properties.limits.properties.per_minute.type = "number";
    delete data.properties.usage;
    data.required = data.required.filter((name: string) => name !== "usage");
  });
  const serves = JSON.stringify(published);
  expect(await checked(JSON.stringify(changed), [], serves)).toMatchObject({
    ...{ code: 1, verdict: "differs" },
    verdicts: [`GET ${api}/me agrees`, `GET ${api}/status differs`],
    places: ["200.getStatus $.ready R48", "200.getStatus $.since R48"],
    notes: [
      "GET /v1/relying-party/me: data.limits.per_minute is a number in the document and an integer here.",
      "GET /v1/relying-party/me: data.usage is only here, not in the document.",
    ],
  });
  const { stdout } = await check(JSON.stringify(changed), ["--format", "junit"], serves);
  expect(stdout).toMatch(/ name="GET \S+status"[^>]*>\s*<failure /);
});

test("another status than the document's is a difference, and a response without JSON is not compared", async () => {
  const ledger = file("test/openapi/styles/ledger.yaml");
  const other = ledger.replace("text/csv", "text/tab-separated-values").replace('"204"', '"200"');
  const { places } = await checked(other, [], ledger);
  expect(places).toEqual(["200.get-v1-relying-party-me-status status R48"]);
});

test("each format lists the operations", async () => {
  const count = 6 + others.length;
  const farms = file("test/openapi/styles/farms.json");
  const formats = ["text", "markdown", "junit"];
  const all = await Promise.all(formats.map((format) => check(farms, ["--format", format])));
  for (const { stdout } of all)
    expect(stdout.replaceAll(/[\\]/g, "")).toContain(`GET ${api}/farms/{farm_id}/photo`);
  expect(all[0]?.stdout).toMatch(new RegExp(` \\d of ${count} operations agree, \\d were not tried\\.\n$`));
  expect(all[2]?.stdout).toMatch(
    new RegExp(`<testsuite name="[^"]*operations" tests="${count}" failures="0" errors="0" skipped="[45]"`),
  );
});
