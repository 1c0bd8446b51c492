import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type Scenario, ScenarioError } from "../../src/index.js";
import { mostExact, respelled } from "../model/path-model.js";
import { runs } from "../support/property-seed.js";

// A scenario that loads is served as it is written: by a model that knows nothing of the sandbox's routes.

interface Written {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

const fixed = ["consents", "a", "b", "a-b", "a:b", "%c3%a9", "x%20y", "a..b", "@me", "~x"];
const refused = ["a%2Db", "%61", "%7ex", ":id", "*", "..", "%2e", "(x)", "$id", "<id>", "a b", "100%"];
const segment = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...fixed) },
  { weight: 30, arbitrary: fc.constantFrom("{id}", "{x}", "{other-1}") },
  { weight: 1, arbitrary: fc.constantFrom(...refused) },
);
const path = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "", "", "/"))
  .map(([segments, end]) => `/${segments.join("/")}${end}`);
const name = fc.oneof(
  { weight: 40, arbitrary: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,12}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("test", "live", "getRelyingPartyContext", "9a", "constructor", "valueOf"),
  },
);
const body = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.constantFrom<unknown>(undefined, null, "", "é", 0, 1.5, [], {}, { a: [1, { b: "x" }] }),
  },
  { weight: 1, arbitrary: fc.constant<unknown>(2 ** 60) },
);
const endpoint = fc
  .record({
    name,
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
    path,
    status: fc.constantFrom(200, 200, 201, 202, 204),
    body,
  })
  .map((one): Written => (one.status === 204 ? { ...one, body: undefined } : one));
const endpoints = fc.uniqueArray(endpoint, { minLength: 1, maxLength: 8, selector: (one) => one.name });

const scenarioOf = (written: readonly Written[]) =>
  ({
    version: 1,
    organizations: {
      bank: {
        type: "bank",
        keys: { main: { environment: "test", limits: { per_minute: 1_000_000, per_day: 1_000_000 } } },
      },
    },
    endpoints: Object.fromEntries(written.map(({ name, ...fields }) => [name, fields])),
  }) as Scenario;

async function expectServed(sandbox: Sandbox, written: readonly Written[], method: string, path: string) {
  const headers = { "x-api-key": sandbox.secret("main") };
  const response = await sandbox.fetch(`https://any.example${path}`, { method, headers });
  const there = mostExact(written, path);
  const wanted = there.find((one) => one.method === (method === "HEAD" ? "GET" : method));
  const [{ outcome } = { outcome: "" }] = sandbox.requests.list({ limit: 1 });
  const seen = [method, path, response.status, outcome, await response.text()];
  if (wanted === undefined) {
    const [status, id] = there.length === 0 ? [404, "404.unknown_path"] : [405, "405.method"];
    expect(seen.slice(0, 4)).toEqual([method, path, status, id]);
    return undefined;
  }
  const { status, name, body } = wanted;
  const text = body === undefined || method === "HEAD" ? "" : JSON.stringify(body);
  expect(seen).toEqual([method, path, status, `${status}.${name}`, text]);
  return wanted;
}

test("a scenario that loads is served as its endpoints say, and each of them is reached", async () => {
  const requests = fc.array(
    fc.tuple(
      fc.constantFrom("GET", "HEAD", "POST", "DELETE"),
      fc.array(fc.constantFrom(...fixed, "other"), { minLength: 1, maxLength: 3 }),
    ),
    { maxLength: 6 },
  );
  const spelling = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 });
  let loaded = 0;
  await fc.assert(
    fc.asyncProperty(endpoints, requests, spelling, async (written, others, encoded) => {
      let sandbox: Sandbox;
      try {
        sandbox = createSandbox({ scenario: scenarioOf(written) }) as Sandbox;
      } catch (error) {
        expect(error).toBeInstanceOf(ScenarioError);
        return;
      }
      loaded += 1;
      for (const [method, segments] of others) {
        await expectServed(sandbox, written, method, `/${segments.join("/")}`);
      }
      for (const one of written) {
        const reaching = one.path.replace(/\{[^}]*\}/g, "any-value");
        expect(await expectServed(sandbox, written, one.method, reaching)).toBe(one);
        const other = respelled(reaching, (index) => encoded[index % encoded.length] === true);
        expect(await expectServed(sandbox, written, one.method, other)).toBe(one);
      }
      const { endpoints: reported } = sandbox.report();
      for (const { name } of written) {
        expect(reported.find((one) => one.operationId === name)?.requests).toBeGreaterThan(0);
      }
    }),
    runs(500),
  );
  expect(loaded).toBeGreaterThan(40);
});
