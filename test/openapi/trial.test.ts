import { expect, test } from "vitest";
import { trialLimits, tryScenario } from "../../src/node/trial.js";
import { inParallel } from "../support/in-parallel.js";
import { served } from "../support/servers.js";

const scenario = (name: string, more: object = {}) =>
  JSON.stringify({ version: 1, name, organizations: { bank: { type: "bank" } }, ...more });

test("a trial ends a scenario that needs too much memory or time, and no other", async () => {
  const milliseconds = 120_000;
  expect(await tryScenario(scenario("fine"), "a", { ...trialLimits, milliseconds })).toBeUndefined();
  expect(await tryScenario("not: [a scenario", "a", { ...trialLimits, milliseconds })).toBeUndefined();
  expect(await tryScenario(scenario("large"), "a", { ...trialLimits, megabytes: 1, milliseconds })).toBe(
    "too_large",
  );
  expect(await tryScenario(scenario("slow"), "a", { ...trialLimits, milliseconds: 1 })).toBe("too_slow");
});

test("trials of one sender do not keep another waiting for more than four", async () => {
  const found: unknown[] = [];
  await inParallel(6, 6, async (at) => {
    found.push(await tryScenario(scenario(`many ${at}`), "b", { ...trialLimits, milliseconds: 1 }));
  });
  expect(found.sort()).toEqual([...Array(2).fill("too_many"), ...Array(4).fill("too_slow")]);
});

test("a scenario whose document needs more than a trial has is rejected before the server reads it", async () => {
  const { controlUrl } = await served({});
  const info = { title: "", version: "" };
  const openapi = { text: JSON.stringify({ openapi: "3.1.0", info, paths: {} }) };
  const population = { organizations: 20_000, keys_per_organization: 5 };
  const sent = await fetch(`${controlUrl}/scenario`, {
    method: "PUT",
    headers: { "Content-Type": "application/yaml" },
    body: scenario("population", { openapi, population }),
  });
  expect([sent.status, (await sent.json()).error.code]).toEqual([422, "too_large"]);
});
