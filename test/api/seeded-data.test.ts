import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, type Scenario } from "../../src/index.js";
import { derivedFrom, goldenData, goldenFile } from "../support/golden.js";
import { runs } from "../support/property-seed.js";

const sandbox = (scenario: Scenario, seed: number) =>
  derivedFrom(createSandbox({ scenario, seed, now: "2026-03-02T09:00:00Z", frozen: true }));

const ref = fc.stringMatching(/^[a-z]{1,6}(-[a-z0-9]{1,3})?$/);
type Organization = NonNullable<Scenario["organizations"]>[string];
type Key = NonNullable<Organization["keys"]>[string];
const key: fc.Arbitrary<Key> = fc.record({
  environment: fc.constantFrom("test", "live"),
  legacy: fc.boolean(),
  state: fc.constantFrom("active", "revoked", "expired"),
});
/** Organizations and keys of which nothing is said that the seed could give, each under a ref of its own. */
const sparse = fc
  .array(fc.tuple(ref, fc.constantFrom("bank", "insurer"), fc.array(fc.tuple(ref, key), { maxLength: 4 })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((described): Scenario => {
    const taken = new Set<string>();
    const free = ([name]: readonly [string, ...unknown[]]) => !taken.has(name) && taken.add(name).has(name);
    const organizations: Record<string, Organization> = {};
    for (const [name, type, keys] of described) {
      organizations[name] = { type, keys: Object.fromEntries(keys.filter(free)) };
    }
    return { version: 1, organizations };
  });

/** A population whose organizations all have a live key, with which they are approved, whatever is added. */
const size = fc.record({ organizations: fc.nat(4), keys_per_organization: fc.integer({ min: 2, max: 9 }) });

test("an organization or a key that is added anywhere, also to the population, changes no id, name, secret or fingerprint of another", () => {
  fc.assert(
    fc.property(sparse, size, fc.nat(), fc.nat(), key, fc.boolean(), (sparse, size, seed, place, add, b) => {
      const scenario = { ...sparse, population: size };
      const before = sandbox(scenario, seed);
      const organizations = Object.entries(scenario.organizations ?? {});
      const [chosen, holder] = organizations[place % organizations.length] as [string, Organization];
      // Refs of seven letters are not among those of the generator.
      const extra = { keyadded: add };
      const keys = b ? { ...extra, ...holder.keys } : { ...holder.keys, ...extra };
      const grown = organizations.map(([name, one]) => [name, name === chosen ? { ...one, keys } : one]);
      grown.splice(place % (grown.length + 1), 0, ["organizationadded", { type: "bank" }]);
      const population = {
        organizations: size.organizations + 1,
        keys_per_organization: size.keys_per_organization + 1,
      };
      const after = sandbox({ ...scenario, organizations: Object.fromEntries(grown), population }, seed);
      expect(after).toMatchObject(before);
    }),
    runs(100),
  );
});

const kept = JSON.parse(await readFile(goldenFile, "utf8"));

test.each(Object.entries(await goldenData()))("%s has its data; see test/golden/README.md", (name, data) => {
  expect(data).toEqual(kept[name]);
});

test("a change of seeded data raises the version: each has the data that it was made for", async () => {
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  const digests = JSON.parse(await readFile(new URL("../golden/versions.json", import.meta.url), "utf8"));
  const digest = createHash("sha256").update(JSON.stringify(kept)).digest("hex");
  expect({ [version]: digest }).toEqual({ [version]: digests[version] });
});
