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
    expect((error.details as { known: unknown[] }).known).toHaveLength(1000);
    expect(error.message).toContain("… 99980 more");
    expect(error.message.length).toBeLessThan(1000);
    return;
  }
  expect.unreachable();
});
