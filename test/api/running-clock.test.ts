import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { handle } from "../../src/api/handle.js";
import { createSandbox } from "../../src/index.js";
import { nodePlatform } from "../../src/node/platform.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { prepareStart, startSandbox } from "../../src/sandbox/start-sandbox.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { type Model, type ModelKey, respond } from "../model/specification-model.js";
import { runs } from "../support/property-seed.js";
import { asked, mePath } from "../support/send.js";

const hour = 3_600_000;
const scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      keys: { soon: { environment: "test", expires: "6h", limits: { per_minute: 2, per_day: 1000 } } },
    },
  },
} satisfies Scenario;

afterEach(() => void vi.useRealTimers());

test("R13 R43 a sandbox that was made while modules load starts with its first use", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  const sandbox = createSandbox({ scenario });
  const firstUse = Date.UTC(2026, 2, 2, 9);
  const statusAt = async (time: number) => {
    vi.setSystemTime(time);
    const headers = { "x-api-key": sandbox.secret("soon") };
    return (await sandbox.fetch(`https://any.example${mePath}`, { headers })).status;
  };
  expect(await statusAt(firstUse)).toBe(200);
  expect(await statusAt(firstUse + 6 * hour - 1)).toBe(200);
  expect(await statusAt(firstUse + 6 * hour)).toBe(401);
});

/** A sandbox on a wall clock of its own, and its model. */
function openOn(reading: { wall: number }) {
  const platform = { ...nodePlatform, time: () => reading.wall };
  const sandbox = startSandbox(prepareStart({ source: { scenario, name: "model" }, platform }));
  const soon: ModelKey = {
    ...{
      organization: "bank",
      environment: "test",
      scopes: ["attestations:read"],
      perMinute: 2,
      perDay: 1000,
    },
    ...{ expires: reading.wall + 6 * hour, revoked: null, overlapEnds: null, created: null, counted: [] },
  };
  const model: Model = {
    now: reading.wall,
    endpoints: [],
    organizations: { bank: { active: true, live: "not_approved", sandboxAccess: true } },
    keys: { soon },
  };
  return { sandbox, model, apiKey: secretToSend(sandbox, "soon") };
}

test("R13 R22 R23 R43 a running sandbox goes as the model: forward with the wall clock, also over a sleep, never back", () => {
  const step = fc.record({
    passed: fc.constantFrom(0, 1, 999, 20_000, 60_000, hour),
    // A machine that slept, one whose clock was corrected or set back, and most often neither.
    jump: fc.constantFrom(0, 0, 0, 8 * hour, 30_000, -30_000, -8 * hour),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const reading = { wall: Date.UTC(2026, 2, 2, 9) };
      const { sandbox, model, apiKey } = openOn(reading);
      for (const { passed, jump } of steps) {
        reading.wall += passed + jump;
        model.now += Math.max(0, passed + jump);
        const expected = respond(model, "soon", "GET", mePath);
        expect(handle(sandbox, asked({ apiKey })).status).toBe(expected.status);
      }
    }),
    runs(200),
  );
});
