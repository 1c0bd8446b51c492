import { expect, onTestFinished, test } from "vitest";
import { faultsOn } from "../../src/api/faults.js";
import { activateVariant } from "../../src/api/variant.js";
import { documentedRows, variationTable } from "../../src/api/variation/table.js";
import words from "../../src/api/variation/words.json" with { type: "json" };
import { everywhere, pointsIn, whereTheyWere } from "../../src/certify/plan.js";
import { startInNode } from "../../src/node/platform.js";
import type { Profile } from "../../src/rules/assumptions.js";
import type { Variant } from "../../src/sandbox/variant.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { serveSandbox } from "../../src/server/serve.js";
import { headerOf, startFrozen } from "../support/doors.js";
import { mePath } from "../support/send.js";
import { ask, everyQuestion, observe } from "../support/varied.js";

const now = Date.parse("2026-03-02T09:00:00Z");

function responses(profile: Profile, data?: Variant, seed = 3) {
  const variant = data && activateVariant(data);
  const sandbox = startFrozen("key-states", { profile, seed, now, variant });
  const seen = observe(sandbox);
  const asked = Array.from({ length: 3 }, () => everyQuestion(sandbox)).flat();
  const given = asked.map((one) => ask(sandbox, one));
  return {
    given,
    points: seen.flatMap(({ points }) => points),
    journal: sandbox.history.requests().map(({ id, code, pathId, status }) => [id, code, pathId, status]),
  };
}

test.each(["typical", "varied"] as const)(
  "a variant that only records changes no response of %s",
  (profile) => {
    const { points, ...shown } = responses(profile, {});
    expect({ ...shown, points: [] }).toEqual(responses(profile));
    expect(pointsIn(points).length).toBeGreaterThan(profile === "varied" ? 200 : 4);
  },
);

test.each(["typical", "varied"] as const)("without a point, every response of %s is minimal's", (profile) => {
  expect(responses(profile, everywhere([]))).toMatchObject({
    ...responses("minimal"),
    points: expect.anything(),
  });
});

test("every point can be chosen, and has a description", () => {
  const ids = new Set<string>();
  for (let seed = 1; seed <= 15; seed++)
    for (const { row, variant } of responses("varied", {}, seed).points) ids.add(`${row} ${variant}`);
  // Of documents, which these sandboxes do not have.
  const isHere = (id: string) => !documentedRows.some((row) => row.id === id);
  const inWords = Object.entries(words).filter(([row]) => isHere(row));
  const worded = inWords.flatMap(([row, { variants }]) =>
    Object.keys(variants).map((one) => `${row} ${one}`),
  );
  const asInMinimal = variationTable
    .filter(({ id }) => isHere(id))
    .map(({ id, variants }) => `${id} ${variants[0].id}`);
  const records = ["key.limits none", "key.granted_scopes none", "organization.name_ending none"];
  expect([...ids].sort()).toEqual([...worded, ...asInMinimal, ...records].sort());
});

test("points apply where they were with the seed, or everywhere that they fit, and nothing else does", () => {
  const point = { row: "content_type", variant: "quoted", status: 401 };
  const quoted = 'application/json; charset="utf-8"';
  const minimal = responses("minimal").given;
  const usual = responses("varied").given;
  const sameBut = (variant: Variant, has: (at: number) => boolean) => {
    for (const [at, { status, headers, body }] of responses("varied", variant).given.entries()) {
      const expected = minimal[at] as (typeof minimal)[number];
      const type = status === 401 && has(at) ? quoted : "application/json";
      expect(headerOf({ status, headers, body }, "content-type")).toBe(type);
      expect([status, body]).toEqual([expected.status, expected.body]);
      expect(headers).toHaveLength(expected.headers.length);
    }
  };
  const had = usual.map((response) => headerOf(response, "content-type") === quoted);
  expect(had.filter(Boolean).length).toBeGreaterThan(2);
  sameBut(whereTheyWere([point]), (at) => had[at] === true);
  sameBut(everywhere([point]), () => true);
});

test("a variant applies to resets, other scenarios and instances", async () => {
  const variant = activateVariant({
    profile: "varied",
    assumptions: { rate_limit_code: "slow_down" },
    faults: faultsOn(["401.missing"], "fault.status"),
    ...everywhere([{ row: "via", variant: "gateway", status: 401 }]),
  });
  const given = { seed: 3, variant } as const;
  const start = () => startInNode(bundledScenarios["key-states"], { ...given, given });
  const server = await serveSandbox(start(), { port: 0 });
  onTestFinished(() => server.close(0));
  const control = async (method: string, path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(server.controlUrl + path, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as { data: { base_url: string; keys: Record<string, string> } };
  };
  const expectVariant = async (base: string) => {
    const me = (key?: string) =>
      fetch(base + mePath, key === undefined ? {} : { headers: { "x-api-key": key } });
    expect((await me()).status).toBe(503);
    const rejected = await me();
    expect([rejected.status, rejected.headers.get("via")]).toEqual([401, "1.1 gateway"]);
  };
  await expectVariant(server.url);
  await control("POST", "/reset", {});
  await expectVariant(server.url);
  await control("PUT", "/scenario", { name: "revoked" });
  await expectVariant(server.url);
  await expectVariant((await control("POST", "/instances", {})).data.base_url);
  const { data } = await control("POST", "/instances", { scenario: "rate-limited" });
  await expectVariant(data.base_url);
  const headers = { "x-api-key": data.keys["rate-limited"] ?? Object.values(data.keys)[0] ?? "" };
  const limited = await fetch(data.base_url + mePath, { headers });
  expect(await limited.json()).toMatchObject({ error: { code: "slow_down" } });
});
