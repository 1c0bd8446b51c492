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
] as const)("the client of the examples meets each promised path, and earns notes at most (%s)", async (profile) => {
  const sandbox = createSandbox({ profile, frozen: true, now: "2026-03-02T09:00:20Z" });
  const wait = async (milliseconds: number) => void sandbox.clock.advance(milliseconds);
  const refs = sandbox.keys.list().map(({ ref }) => ref as "active");
  // The old keys of a rotation before the new one, as a client that has kept up; then those that make it wait.
  const late: string[] = ["rotated", "retiring", "replacement", "rate-limited-minute", "rate-limited"];
  const inOrder = [...refs.filter((ref) => !late.includes(ref)), ...(late as (typeof refs)[number][])];
  for (const apiKey of [...inOrder.map(sandbox.secret), sandbox.unknownSecret(), "not-a-key"]) {
    await confirmKey({ baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, wait, attempts: 4 });
  }
  await sandbox.fetch("https://any.example/v1/relying-party/me");
  expect(sandbox.report().coverage).toEqual({ percent: 100, met: 17, promised: 17 });
  expect(sandbox.requests.list({ pathId: "429.per_day" }).length).toBeGreaterThan(
    profile === "minimal" ? 3 : 0,
  );
  expect(sandbox.report().advice.filter(({ level }) => level !== "note")).toEqual([]);
});
