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
