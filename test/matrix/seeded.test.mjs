import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createSandbox } from "svc-sandbox";

// Of a thousand farmers, and of the names, ids and keys of two hundred organizations.
const digest = "95c163da3d3f0acd79ec91f91ef48c970b428adac3f75f7c4e42a0b951a509f7";

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
