import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { serveControl } from "./client.js";

const changesOf = (paths: readonly string[], revision?: string) => {
  const query = new URLSearchParams({ paths: paths.join(" "), ...(revision !== undefined && { revision }) });
  return `/changes?${query}`;
};

test("the responses are those of the calls, with their queries and parts, until the revision is the same", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const paths = [
    "/clock",
    "/health",
    "/requests?limit=5",
    "/directory?filter=harvest+bank&limit=2",
    "/directory?filter=a?bank",
    "/keys/live",
  ];
  const { revision, responses } = (await ask(changesOf(paths))).body.data;
  expect(Object.keys(responses)).toEqual(paths);
  for (const path of paths) expect(responses[path]).toEqual((await ask(path)).body);
  expect((await ask(changesOf(paths, revision))).body.data).toEqual({ revision, responses: {} });

  await ask("/send", { method: "POST", json: { key: "active" } });
  const later = (await ask(changesOf(paths, revision))).body.data;
  expect(later.revision).not.toBe(revision);
  expect(later.responses["/requests?limit=5"].data).toHaveLength(1);
});

test("a text is the data of its call", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const { responses } = (await ask(changesOf(["/scenario"]))).body.data;
  expect(responses["/scenario"].data).toMatch(/^# /);
});

test("a call that is rejected has its error, and the others their responses", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const paths = ["/keys/nosuch", "/requests?limit=many", "/nothing", "/docs/README", "/changes", "/clock"];
  const { responses } = (await ask(changesOf(paths))).body.data;
  const codes = paths.map((path) => responses[path].error?.code);
  expect(codes).toEqual(["not_found", "validation_failed", "not_found", "not_found", "not_found", undefined]);
  expect(responses["/keys/nosuch"]).toEqual((await ask("/keys/nosuch")).body);
});

test("more than fifty calls are rejected", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const many = Array.from({ length: 51 }, (_, index) => `/requests?limit=${index + 1}`);
  expect((await ask(changesOf(many.slice(1)))).status).toBe(200);
  expect((await ask(changesOf(many))).body.error.code).toBe("validation_failed");
});

test("a sandbox with a token tells nothing without it", async () => {
  const { ask } = await serveControl({ scenario: "key-states", controlToken: "a-token-of-the-test" });
  const { status, body } = await ask(changesOf(["/keys"]), { headers: { authorization: "Bearer other" } });
  expect([status, body.error.code, body.data]).toEqual([401, "control_token_required", undefined]);
});

test("lifelines are of the keys that are asked for, at most so many: those used last, then those that end", async () => {
  const scenario = parseScenario(`version: 1
clock: { now: 2026-03-02T09:00:00Z }
population: { organizations: 30, keys_per_organization: 5 }
organizations:
  bank: { type: bank, keys: { ending: { environment: test, expires: 1h }, told: { environment: test } } }
story:
  - request: { key: told }
`);
  const { ask } = await serveControl({ scenario });
  const keysOf = async (query: string) => {
    const { lifelines, left } = (await ask(`/lifelines?${query}`)).body.data;
    return [...lifelines.map(({ key }: { readonly key: string }) => key), left];
  };
  await ask("/send", { method: "POST", json: { key: "organization-30-key-5" } });
  expect(await keysOf("limit=2")).toEqual(["ending", "organization-30-key-5", 150]);
  expect(await keysOf("organization=bank")).toEqual(["ending", "told", 0]);
  expect(await keysOf("key=organization-7-key-2")).toEqual(["organization-7-key-2", 0]);
  expect(await keysOf("story=true")).toEqual(["told", 0]);
  expect(await keysOf("filter=organization-7-key+test")).toHaveLength(6);
  expect((await ask("/lifelines?key=nosuch")).status).toBe(404);
  expect((await ask("/lifelines?organization=nosuch")).status).toBe(404);
});
