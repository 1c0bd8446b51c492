import { expect, test } from "vitest";
import { createSandbox, SandboxError } from "../index.js";

test("the error of an unknown ref lists a limited number of refs, whatever the population has", () => {
  const population = { organizations: 20_000, keys_per_organization: 5 };
  const sandbox = createSandbox({ scenario: { version: 1, population } });
  try {
    sandbox.keys.get("organization-1-key-9" as never); // no such ref
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    expect(error.details).toMatchObject({ kind: "key", ref: "organization-1-key-9" });
    expect(error.details).toMatchObject({ count: 100_000 });
    expect((error.details as { known: unknown[] }).known.length).toBeLessThanOrEqual(20);
    expect(error.message).toContain("… 99980 more");
    expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(2000);
    return;
  }
  expect.unreachable();
});

test("the error of an unknown ref lists the nearest ref, also behind those that it lists first", () => {
  const keys: Record<string, { environment: "test"; state: "revoked" }> = {};
  for (let index = 0; index < 2000; index++) {
    keys[`key-${index}-${index % 7}`] = { environment: "test", state: "revoked" };
  }
  const organizations = { bank: { type: "bank" as const, keys } };
  const sandbox = createSandbox({ scenario: { version: 1, organizations } });
  try {
    sandbox.secret("key-500_3" as never);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    expect(error.details).toMatchObject({ known: expect.arrayContaining(["key-500-3"]), count: 2000 });
    expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(2000);
    return;
  }
  expect.unreachable();
});
