import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";

/** The client of the example, which is plain JavaScript. */
type ConfirmKey = (question: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: ReturnType<typeof createSandbox>["fetch"];
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly attempts?: number;
}) => Promise<{ readonly result: string }>;

const { confirmKey } = (await import(`${"../../examples"}/node-test/confirm-key.js`)) as {
  confirmKey: ConfirmKey;
};

test.each([
  "minimal",
  "typical",
] as const)("the client of the examples earns notes at most (%s)", async (profile) => {
  const sandbox = createSandbox({ profile, frozen: true, now: "2026-03-02T09:00:20Z" });
  const wait = async (milliseconds: number) => void sandbox.clock.advance(milliseconds);
  const refs = sandbox.keys.list().map(({ ref }) => ref);
  // The old key of a rotation before the new one, as a client that has kept up.
  for (const ref of [...refs.filter((one) => one !== "replacement"), "replacement"]) {
    const apiKey = sandbox.secret(ref as "active");
    await confirmKey({ baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, wait, attempts: 4 });
  }
  expect(sandbox.requests.list({ pathId: "429.per_day" }).length).toBeGreaterThan(
    profile === "minimal" ? 3 : 0,
  );
  expect(sandbox.report().advice.filter(({ level }) => level !== "note")).toEqual([]);
});
