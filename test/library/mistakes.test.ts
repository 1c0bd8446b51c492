import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { startServer } from "../../src/server/index.js";
import { served } from "../support/servers.js";

// What a compiler would say, to those who have none; and what responses say of themselves.

const rejection = (code: string, details: object) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) });
const unknownOption = (name: string) =>
  rejection("validation_failed", { fields: { [name]: expect.any(String) } });

test("unknown options are rejected by name", async () => {
  const sandbox = createSandbox();
  expect(() => createSandbox({ sead: 1 } as object)).toThrow(unknownOption("sead"));
  expect(() => createSandbox("rotation" as never)).toThrow(unknownOption("options"));
  expect(() => createHandlers(sandbox, { baseURL: "https://api.example" } as object)).toThrow(
    unknownOption("baseURL"),
  );
  await expect(startServer({ prot: 1 } as object)).rejects.toThrow(unknownOption("prot"));
});

test.each<[what: string, value: unknown, fix: RegExp]>([
  ["nothing", undefined, /found nothing: pass what createSandbox returns/],
  ["null", null, /found nothing/],
  ["a name", "key-states", /found "key-states"/],
  ["options", { scenario: "key-states" }, /found a mapping/],
  ["a promise", Promise.resolve(createSandbox()), /found a promise: await it/],
  ["a server", { url: "http://127.0.0.1:1", sandbox: createSandbox() }, /pass its sandbox/],
  ["a function", createSandbox, /found a function/],
  ["a spread sandbox", { ...createSandbox() }, /found a mapping: .* no copy/],
])("handlers are not made of what is no sandbox: %s", (_what, value, fix) => {
  const make = () => createHandlers(value as ReturnType<typeof createSandbox>);
  expect(make).toThrow(expect.objectContaining({ code: "usage", message: expect.stringMatching(fix) }));
});

test.each([99_999, -1, 1.5, "http"])("a server on the port %j is rejected", async (port) => {
  await expect(startServer({ port } as object)).rejects.toThrow(unknownOption("port"));
});

test("a hook of a test runner may call a member with its own values: beforeEach(sandbox.reset)", () => {
  const sandbox = createSandbox();
  sandbox.keys.revoke("active");
  // Vitest passes a context, with the task.
  (sandbox.reset as (context: object) => void)({ task: { name: "a test" } });
  expect(sandbox.keys.get("active").state).toBe("active");
});

test("an error names the fields that the caller wrote", () => {
  const { keys } = createSandbox();
  const created = { organization: "harvest-bank", environment: "test", name: "CI" } as const;
  for (const [change, field, message] of [
    [{ expiresAt: "10m" }, "expiresAt", 'unknown field "expiresAt" at the top level'],
    [{ limits: { perMinutee: 5 } }, "limits.perMinutee", 'unknown field "perMinutee" in limits'],
    [{ limits: { perMinute: -1 } }, "limits.perMinute", "perMinute must be"],
  ] as const) {
    const details = { fields: { [field]: expect.stringContaining(message) } };
    expect(() => keys.create({ ...created, ...change } as never)).toThrow(
      expect.objectContaining({ details }),
    );
  }
  const details = { fields: { "the argument": expect.any(String) } };
  expect(() => keys.rotate("active", 5 as never)).toThrow(expect.objectContaining({ details }));
  expect(() => keys.create(5 as never)).toThrow(expect.objectContaining({ details }));
});

test("an error has no full key, neither in its message nor in its details", () => {
  const sandbox = createSandbox();
  const key = "SVC_live_9fKq2LmZx8Rt4WvB7nYc3Hd6";
  const given = key as never;
  for (const call of [
    () => sandbox.secret(given),
    () => sandbox.keys.get(given),
    () => sandbox.keys.revoke(given),
    () => sandbox.keys.rotate("active", { as: key }),
    () => sandbox.organizations.get(given),
    () => sandbox.requests.list({ key: given }),
    () => sandbox.farmers.get(key),
    () => sandbox.clock.advance(given),
    () => sandbox.clock.set(key),
    () => sandbox.faults.set([{ when: { key: given }, then: { status: 503 } }]),
    () => createSandbox({ scenario: given }),
    () => createSandbox({ [key]: 1 } as object),
    () => createSandbox({ scenario: { version: 1, [key]: 1 } as never }),
    () => createHandlers(sandbox, { baseUrl: `https://${key}@api.example` }),
    () => createHandlers(sandbox, { baseUrl: `api.example?key=${key}` }),
    () => createHandlers(sandbox, { baseUrl: `https://*.example?key=${key}` }),
    () => createHandlers(given),
  ]) {
    let shown = "nothing was thrown";
    try {
      call();
    } catch (error) {
      shown = `${error} ${JSON.stringify(error)}`;
    }
    expect(shown).toMatch(/^(?:SandboxError|ScenarioError)/);
    expect(shown).not.toContain(key.slice(9));
  }
});

test("requests of an unknown key, and mistakes in the query, are rejected", () => {
  const { requests, keys } = createSandbox({ scenario: "active" });
  const list = (query: object) => () => requests.list(query);
  expect(list({ key: "nope" })).toThrow(rejection("unknown_ref", { ref: "nope" }));
  expect(list({ path: "200.test" })).toThrow(unknownOption("path"));
  expect(list({ limit: -1 })).toThrow(unknownOption("limit"));
  const { key } = keys.rotate("active", { as: "next" });
  expect(requests.list({ key: key.ref })).toEqual([]);
});

test("responses of sandbox.fetch have their URL, and so do their copies", async () => {
  const url = "https://any.example/v1/relying-party/me";
  const response = await createSandbox().fetch(`${url}#part`);
  const seen = [response, response.clone(), response.clone().clone()];
  expect(seen.map((one) => [one.url, one.status, one.statusText])).toEqual(
    seen.map(() => [url, 401, "Unauthorized"]),
  );
});

test.each([429, 500, 501, 502, 503, 504] as const)(
  "sandbox.fetch sends the sandbox's Date with a dated Retry-After of a %i",
  async (status) => {
    const assumptions = { retry_after: "date" } as const;
    const clock = { now: "2030-03-02T09:00:20Z", frozen: true };
    const sandbox = createSandbox({ scenario: { version: 1, extends: "key-states", assumptions, clock } });
    if (status !== 429) sandbox.faults.set([{ then: { status, retry_after: { date: "5s" } } }]);
    const init = { headers: { "x-api-key": sandbox.secret("rate-limited") } };
    const response = await sandbox.fetch("https://any.example/v1/relying-party/me", init);
    expect([response.status, response.headers.get("date")]).toEqual([
      status,
      "Sat, 02 Mar 2030 09:00:20 GMT",
    ]);
  },
);

test("an unknown scenario names what lists the others, where it was asked for", async () => {
  const message = (list: string) => expect.objectContaining({ message: expect.stringContaining(list) });
  expect(() => createSandbox({ scenario: "key-stats" as never })).toThrow(message("`scenarioNames` shows"));
  const { controlUrl } = await served({ scenario: "active" });
  const response = await fetch(`${controlUrl}/scenario`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "key-stats" }),
  });
  expect((await response.json()).error).toEqual(message("`GET /scenarios` shows"));
});

test("a name in a message shows what the eye cannot", () => {
  const { keys, organizations, requests } = createSandbox({ scenario: "active" });
  // Its first character has no width.
  const alike = "\u200bactive" as never;
  const unknown = expect.objectContaining({ message: expect.stringContaining('"\\u{200b}active"') });
  expect(() => keys.get(alike)).toThrow(unknown);
  expect(() => organizations.get(alike)).toThrow(unknown);
  expect(() => requests.list({ key: alike })).toThrow(unknown);
});
