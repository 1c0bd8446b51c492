import { expect, test } from "vitest";
import type { Sandbox, Scenario, ScenarioError } from "../../src/index.js";
import { createSandbox, parseScenario } from "../../src/index.js";
import { continued } from "../support/continued.js";
import { derivedFrom } from "../support/golden.js";

const mePath = "https://any.example/v1/relying-party/me";
const clock = { now: "2026-03-02T09:00:00Z", frozen: true };
type Population = NonNullable<Scenario["population"]>;
type Organizations = NonNullable<Scenario["organizations"]>;
const written: Organizations = { "some-bank": { type: "bank", keys: { main: { environment: "test" } } } };

function scenarioOf(population: Population, organizations: Organizations = written): Scenario {
  return { version: 1, clock, organizations, population };
}

function sandboxOf(population: Population, organizations?: Organizations, seed?: number): Sandbox {
  const scenario = scenarioOf(population, organizations);
  return createSandbox({ scenario, ...(seed !== undefined && { seed }) });
}

test("a population is organizations and keys with refs that can be counted off, test and live in turn (R32)", async () => {
  const sandbox = sandboxOf({ organizations: 4, keys_per_organization: 3 });
  expect(sandbox.organizations.list()).toMatchObject([
    { ref: "some-bank", type: "bank", liveAccess: "not_approved" },
    { ref: "organization-1", type: "bank", liveAccess: "approved" },
    { ref: "organization-2", type: "bank", liveAccess: "approved" },
    { ref: "organization-3", type: "insurer", liveAccess: "approved" },
    { ref: "organization-4", type: "bank", liveAccess: "approved" },
  ]);
  const keys = sandbox.keys.list().filter(({ organization }) => organization === "organization-4");
  expect(keys).toMatchObject([
    { ref: "organization-4-key-1", environment: "test", state: "active" },
    { ref: "organization-4-key-2", environment: "live", state: "active" },
    { ref: "organization-4-key-3", environment: "test", state: "active" },
  ]);
  for (const { ref } of sandbox.keys.list()) {
    const { status } = await sandbox.fetch(mePath, { headers: { "x-api-key": sandbox.secret(ref) } });
    expect([ref, status]).toEqual([ref, 200]);
  }
});

test("a scenario has at most 100,000 keys with its population", () => {
  const problemsOf = (keys: number, more: Organizations[string]["keys"] = {}) => {
    const population = { organizations: keys / 10, keys_per_organization: 10 };
    try {
      parseScenario(JSON.stringify(scenarioOf(population, { bank: { type: "bank", keys: more } })));
      return [];
    } catch (error) {
      return (error as ScenarioError).problems;
    }
  };
  expect(problemsOf(100_000)).toEqual([]);
  expect(problemsOf(100_000, { main: { environment: "test" } })).toMatchObject([
    {
      ...{ code: "too_many_keys", field: "population" },
      message: "the scenario has 100001 keys; the maximum is 100000",
    },
  ]);
});

test("a saved sandbox has the current organizations, and the same farmers", () => {
  const sandbox = sandboxOf({ organizations: 3, keys_per_organization: 2, farmers: 50, locale: "en" });
  const farmer = sandbox.farmers.at(49);
  sandbox.organizations.update("organization-2", { status: "inactive" });
  sandbox.clock.advance("400d");
  const again = continued(sandbox);
  expect(derivedFrom(again)).toEqual(derivedFrom(sandbox));
  expect(again.farmers.at(49)).toEqual(farmer);
  expect(again.farmers.count).toBe(50);
  expect(again.clock.now()).toBe("2027-04-06T09:00:00.000Z");
  again.reset();
  expect(again.farmers.at(49)).toEqual(farmer);
  sandbox.reset();
  expect(sandbox.organizations.get("organization-2").status).toBe("active");
});

const withoutPopulation: Scenario = { version: 1, clock, organizations: written };

test("a sandbox has 1,000 farmers by default, whose dates depend on the start of its clock", () => {
  const at = (now: string) => createSandbox({ scenario: withoutPopulation, now }).farmers;
  expect(at("2026-03-02T09:00:00Z").count).toBe(1000);
  expect(at("2026-03-02T09:00:00Z").at(7)).toEqual(
    createSandbox({ scenario: withoutPopulation }).farmers.at(7),
  );
  const later = at("2031-03-02T09:00:00Z").at(7);
  expect(later.birth_year).toBe(at("2026-03-02T09:00:00Z").at(7).birth_year + 5);
  const sandbox: Sandbox = createSandbox({ scenario: withoutPopulation });
  const before = sandbox.farmers.at(7);
  sandbox.clock.advance("30d");
  expect(sandbox.farmers.at(7)).toEqual(before);
});

test("a page of farmers ends with the last one, and a wrong one is rejected", () => {
  const { farmers } = sandboxOf({ farmers: 25 });
  const ids = Array.from({ length: 25 }, (_, index) => farmers.at(index).farmer_id);
  expect(farmers.list().map(({ farmer_id: id }) => id)).toEqual(ids.slice(0, 20));
  expect(farmers.list({ offset: 20 }).map(({ farmer_id: id }) => id)).toEqual(ids.slice(20));
  expect(farmers.list({ offset: 24, limit: 5 })).toHaveLength(1);
  for (const page of [{ offset: 25 }, { limit: 0 }]) expect(farmers.list(page)).toEqual([]);
  for (const page of [{ offset: -1 }, { limit: 1.5 }, { offset: Number.NaN }, { limit: "5" as never }]) {
    expect(() => farmers.list(page)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  }
  for (const index of [25, -1, 0.5]) {
    expect(() => farmers.at(index)).toThrow(expect.objectContaining({ code: "unknown_ref" }));
  }
  for (const id of ["", "farmer_0000000000000000", sandboxOf({ farmers: 26 }).farmers.at(25).farmer_id]) {
    expect(() => farmers.get(id)).toThrow(expect.objectContaining({ code: "unknown_ref" }));
  }
});

test("no farmer has a date before the year 0, however early they start", () => {
  const { farmers } = sandboxOf({ farmers: 20, as_of: "0000-01-01T00:00:00Z" });
  for (const farmer of farmers.list()) {
    expect(farmer.birth_year).toBeGreaterThan(0);
    for (const { properties } of farmer.parcels) {
      expect(properties["determination:datetime"]).toMatch(/^\d{4}-\d\d-\d\dT/);
    }
  }
});
