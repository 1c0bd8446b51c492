import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { confirmKey } from "../support/confirm-key.js";
import { isNightly } from "../support/property-seed.js";

/** What the client of the examples, which relies on nothing but promises, makes of the response to a key. */
async function decide(sandbox: Sandbox, apiKey: string) {
  const asked = { baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, attempts: 1 };
  const { result, code, organization, environment, usage, scopes } = await confirmKey(asked);
  const { id, type } = (organization ?? {}) as { id?: string; type?: string };
  const mayRead = (scopes as string[] | undefined)?.includes("attestations:read");
  return { result, code, id, type, environment, today: (usage as { today: number })?.today, mayRead };
}

test("a correct client decides under many seeds of varied as under minimal, and distinguishes the responses", async () => {
  const decisionsOf = async (profile: "minimal" | "varied", seed: number) => {
    const sandbox: Sandbox = createSandbox({ scenario: "key-states", profile, seed, frozen: true });
    const keys = [
      ...sandbox.keys.list().map(({ ref }) => sandbox.secret(ref)),
      sandbox.secret("unknown"),
      "",
    ];
    const decisions: Awaited<ReturnType<typeof decide>>[] = [];
    for (const key of keys) decisions.push(await decide(sandbox, key));
    return decisions;
  };
  const kinds = new Set((await decisionsOf("varied", 4)).map(({ result }) => result));
  expect([...kinds].sort()).toEqual(["confirmed", "limited", "refused", "rejected"]);
  for (let seed = 1; seed <= (isNightly ? 400 : 12); seed++) {
    expect(await decisionsOf("varied", seed), `seed ${seed}`).toEqual(await decisionsOf("minimal", seed));
  }
});
