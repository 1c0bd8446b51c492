import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createSandbox } from "svc-sandbox";

// Of a thousand farmers, and of the names, ids and keys of two hundred organizations.
const digest = "ec38db81b59dbbd4bf44facd7b9fe7ea670c1b7aede4116b63ec8f70b192b25e";

test("the same seed gives the same data on every Node", () => {
  const scenario = {
    version: 1,
    seed: 7,
    clock: { now: "2026-03-02T09:00:00Z", frozen: true },
    population: { organizations: 200, keys_per_organization: 3, farmers: 1000 },
  };
  const sandbox = createSandbox({ scenario });
  const hash = createHash("sha256");
  hash.update(JSON.stringify(sandbox.farmers.list({ offset: 0, limit: 1000 })));
  hash.update(JSON.stringify(sandbox.organizations.list()));
  hash.update(JSON.stringify(sandbox.keys.list().map(({ ref }) => sandbox.secret(ref))));
  assert.equal(hash.digest("hex"), digest);
});
