import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSandbox } from "../../src/index.js";
import { mePath } from "../support/doors.js";

// A fake Date moves the clock of a sandbox forward, and never back.

const hour = 3_600_000;
const start = Date.UTC(2026, 2, 2, 9);

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterEach(() => void vi.useRealTimers());

test("R38 a key whose overlap has ended never works again, even if a fake Date moves back", async () => {
  const sandbox = createSandbox({ scenario: "key-states" });
  const old = sandbox.secret("active");
  sandbox.keys.rotate("active", { overlap: "60m" });
  const headers = { "x-api-key": old };
  for (const [at, status] of [
    [start + hour - 1, 200],
    [start + hour, 401],
    [start, 401],
    [start - 720 * hour, 401],
  ] as const) {
    vi.setSystemTime(at);
    expect((await sandbox.fetch(`https://any.example${mePath}`, { headers })).status).toBe(status);
  }
  expect(sandbox.clock.now()).toBe("2026-03-02T10:00:00.000Z");
});
