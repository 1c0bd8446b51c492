import { expect, test } from "vitest";
import { variationTable } from "../../src/api/variation/table.js";
import { selector } from "../../src/api/variation/vary.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { openTestWorld } from "../support/doors.js";
import { isNightly } from "../support/property-seed.js";
import { traits } from "../support/traits.js";
import { type Asked, ask } from "../support/varied.js";

type VariationRow = (typeof variationTable)[number];

const patience = 60;

/** What gets a response of each status. */
const asked: Readonly<Record<number, Asked>> = {
  200: { key: "active" },
  401: { key: "revoked" },
  405: { key: "active", method: "POST" },
  429: { key: "rate-limited" },
};

/** The numbers of the requests whose response has another form of the row than the first. */
function failuresOf({ id, variants: [usual] }: VariationRow, profile: "minimal" | "varied"): number[] {
  const world = openTestWorld("key-states", { profile, seed: 1 });
  const [status = 0, formOf] = traits[id] as (typeof traits)[string];
  return Array.from({ length: patience }, (_, index) => index + 1).filter(() => {
    world.clock.advance(2_000);
    const { body, ...answer } = ask(world, asked[status] as Asked);
    return formOf({ ...answer, text: body }) !== usual?.id;
  });
}

test.each(variationTable)("a client that relies on $id of minimal is caught by varied", (row) => {
  expect(failuresOf(row, "minimal")).toEqual([]);
  const failures = failuresOf(row, "varied");
  expect(failures.length).toBeGreaterThan(0);
  // It is this row that catches it, and no other.
  for (const number of failures) expect(selector(1, number)(row).variant).not.toBe(row.variants[0]);
});

type ConfirmKey = (question: object) => Promise<Record<string, unknown>>;
const { confirmKey } = (await import(`${"../../examples"}/node-test/confirm-key.js`)) as {
  confirmKey: ConfirmKey;
};

/** What the client of the examples, which relies on nothing but promises, makes of the answer to a key. */
async function decide(sandbox: Sandbox, apiKey: string) {
  const asked = { baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, attempts: 1 };
  const { result, code, organization, environment, usage, scopes } = await confirmKey(asked);
  const { id, type } = (organization ?? {}) as { id?: string; type?: string };
  const mayRead = (scopes as string[] | undefined)?.includes("attestations:read");
  return {
    result,
    code,
    id,
    type,
    environment,
    today: (usage as { today: number } | undefined)?.today,
    mayRead,
  };
}

test("a correct client decides under many seeds of varied as under minimal, and distinguishes the responses", async () => {
  const decisionsOf = async (profile: "minimal" | "varied", seed: number) => {
    const sandbox: Sandbox = createSandbox({ scenario: "key-states", profile, seed, frozen: true });
    const keys = [...sandbox.keys.list().map(({ ref }) => sandbox.secret(ref)), sandbox.unknownSecret(), ""];
    const decisions: Awaited<ReturnType<typeof decide>>[] = [];
    for (const key of keys) decisions.push(await decide(sandbox, key));
    return decisions;
  };
  const kinds = new Set((await decisionsOf("varied", 4)).map(({ result }) => result));
  expect([...kinds].sort()).toEqual(["confirmed", "limited", "refused", "rejected"]);
  for (let seed = 1; seed <= (isNightly ? 400 : 40); seed++) {
    expect(await decisionsOf("varied", seed), `seed ${seed}`).toEqual(await decisionsOf("minimal", seed));
  }
});
