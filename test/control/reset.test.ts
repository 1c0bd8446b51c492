import { expect, test } from "vitest";
import { serveControl } from "./client.js";

const mePath = "/v1/relying-party/me";
const now = "2027-01-01T00:00:00.000Z";

test("a reset starts another scenario with these options, and returns its keys once", async () => {
  const { ask, server } = await serveControl({ seed: 7, profile: "typical" });
  const reset = async (json: object) => (await ask("/reset", { method: "POST", json })).body.data;
  const { keys, ...started } = await reset({ scenario: "rotation", seed: 3, now, frozen: true });
  expect(started).toEqual({ scenario: "rotation", seed: 3, now, warnings: [] });
  const headers = { "x-api-key": keys.retiring };
  expect((await fetch(server.url + mePath, { headers })).status).toBe(200);
  const { clock, assumptions } = (await ask("/state")).body.data;
  // The options of the start hold where the call has none.
  expect([clock, assumptions.profile]).toEqual([{ now, frozen: true }, "typical"]);
  // The running scenario stays, with its options, and its keys are not shown again.
  const again = await reset({ profile: "minimal", frozen: false });
  expect(again).toEqual({ scenario: "rotation", seed: 3, now: expect.any(String), warnings: [] });
  expect(await reset({ seed: 4 })).toMatchObject({ seed: 4, keys: { retiring: expect.any(String) } });
  // By its name, the one that the server was started with.
  expect(await reset({ scenario: "key-states" })).toMatchObject({ scenario: "key-states", seed: 7 });
});

test("a reset starts a scenario that the call has as a value", async () => {
  const { ask } = await serveControl();
  const organizations = { "a-bank": { type: "bank", keys: { main: { environment: "test" } } } };
  const json = { scenario: { version: 1, name: "Own", organizations } };
  const { scenario, keys } = (await ask("/reset", { method: "POST", json })).body.data;
  expect([scenario, Object.keys(keys)]).toEqual(["Own", ["main", "unknown", "malformed"]]);
});

test("a scenario in a reset is a value, and never one with a text of its own", async () => {
  const { ask } = await serveControl();
  const organizations = { "a-bank": { type: "bank", keys: { main: { environment: "test" } } } };
  const loaded = { scenario: { version: 1, organizations }, name: "mine", files: [], text: "not: checked" };
  const { status, body } = await ask("/reset", { method: "POST", json: { scenario: loaded } });
  const fields = ["files", "scenario", "text", "version"];
  expect([status, Object.keys(body.error.details.fields).sort()]).toEqual([422, fields]);
});

test("a reset with a scenario as a value has its warnings", async () => {
  const { ask } = await serveControl();
  const keys = { main: { environment: "test", secret: "SVC_test_9fKq2LmZx8Rt4WvB7nYc3Hd6" } };
  const scenario = { version: 1, organizations: { "a-bank": { type: "bank", keys } } };
  const { body } = await ask("/reset", { method: "POST", json: { scenario } });
  expect(body.data.warnings).toEqual([expect.stringContaining("secret")]);
});

const invalid: readonly [what: string, json: unknown, status: number, code: string][] = [
  ["a member that does not exist", { seeds: 1 }, 422, "validation_failed"],
  ["a seed that is not one", { scenario: "rotation", seed: -1 }, 422, "validation_failed"],
  ["a time that is not one", { scenario: "rotation", now: "2027-01-01" }, 422, "validation_failed"],
  ["a profile that does not exist", { seed: 3, profile: "minimum" }, 422, "validation_failed"],
  ["a scenario that does not exist", { scenario: "rotatoin", seed: 3 }, 404, "not_found"],
  ["an invalid scenario", { scenario: { version: 1, organisations: {} } }, 422, "validation_failed"],
  [
    "more keys than a call may start",
    { scenario: { version: 1, population: { organizations: 1_000_000 } } },
    422,
    "validation_failed",
  ],
];

test("a reset counts the keys of a population before it checks its names", async () => {
  const { ask } = await serveControl();
  const scenario = { version: 1, population: { organizations: 50_000, keys_per_organization: 2 }, nope: 1 };
  const { status, body } = await ask("/reset", { method: "POST", json: { scenario } });
  expect([status, body.error.message]).toEqual([422, expect.stringContaining("100000 keys")]);
});

test.each(invalid)("a reset with %s leaves the sandbox as it was", async (_what, json, status, code) => {
  const { ask, server } = await serveControl();
  await fetch(server.url + mePath);
  const seen = async () =>
    Promise.all(["/state", "/requests", "/revision"].map(async (path) => (await ask(path)).body));
  const before = await seen();
  const response = await ask("/reset", { method: "POST", json });
  expect([response.status, response.body.error.code]).toEqual([status, code]);
  expect(await seen()).toEqual(before);
});
