import fc from "fast-check";
import { expect, test } from "vitest";
import { checkScenario } from "../src/scenario/check-scenario.js";
import { expectUnchanged, serveControl } from "./support/control-client.js";
import { type Write, writesFor } from "./support/control-writes.js";
import { propertySeed } from "./support/property-seed.js";

// What stands in a field: what belongs there, what nearly does, and what nobody would write.
const value = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      "harvest-bank",
      "test",
      "live",
      "CI",
      "active",
      "inactive",
      "approved",
      "suspended",
      "fixed",
      "sliding",
    ],
    ...[
      "1m",
      "-1m",
      "0s",
      "36500d",
      "2027-01-01T00:00:00Z",
      "9999-12-24T00:00:00Z",
      "key-states",
      "rotation",
    ],
    ...[
      "minimal",
      "typical",
      "varied",
      "none",
      "attestations:read",
      "farms:read",
      "06:00",
      "",
      " ",
      "x".repeat(300),
    ],
    ...["__proto__", "constructor", "\u0000", "\ud800", "💧", "../x", "SVC_test_x", "seconds", "draft"],
    ...[0, 1, -1, 0.5, 60, 10_080, 10_081, 1e21, Number.MAX_SAFE_INTEGER, true, false, null],
    ...[
      ["attestations:read"],
      ["consents:read", "consents:read"],
      [],
      [[]],
      {},
      { per_minute: 3 },
      { per_day: -1 },
    ],
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const fields = [
  ...[
    "organization",
    "environment",
    "name",
    "scopes",
    "limits",
    "ref",
    "expires",
    "overlap_minutes",
    "as",
    "status",
  ],
  ...[
    "sandbox_access",
    "live_access",
    "now",
    "frozen",
    "by",
    "profile",
    "rate_limit_code",
    "me_scope",
    "scenario",
  ],
  ...[
    "minute_window",
    "day_resets_at",
    "count_refused",
    "retiring_counts_as_active",
    "seed",
    "default_expiry",
  ],
  ...["__proto__", "constructor", "nonsense"],
] as const;

/** Bodies that are a few steps away from one that is taken, or far off. */
const body = (write: Write) =>
  fc.oneof(
    fc.array(fc.tuple(fc.constantFrom(...fields), value), { maxLength: 3 }).map((changes) => ({
      ...(write.json as object),
      ...Object.fromEntries(changes),
    })),
    fc.array(fc.tuple(fc.constantFrom(...fields), value), { maxLength: 4 }).map(Object.fromEntries),
    fc.jsonValue({ maxDepth: 4 }),
  );

const writes = writesFor("no-such-instance").filter(({ json }) => json !== undefined);

test.each(
  writes,
)("$method $described: whatever is sent, it is taken as described or refused with nothing changed", async (write) => {
  const control = await serveControl();
  const send = (json: unknown) => control.ask(write.path, { method: write.method, json });
  const outcomes = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(body(write), async (json) => {
      const before = control.server.sandbox.snapshot();
      const answer = await send(json);
      outcomes.add(answer.status < 300);
      expect(answer.status).toBeLessThan(500);
      // What is left is a world that could be started from.
      const after = control.server.sandbox.snapshot();
      expect(() => checkScenario(after)).not.toThrow();
      if (answer.status >= 300) expect(after).toEqual(before);
      control.server.sandbox.reset();
      control.server.sandbox.clock.freeze();
    }),
    { numRuns: 200, ...propertySeed },
  );
  expect(outcomes).toEqual(new Set([true, false]));
  await expectUnchanged(control, () => send("text"));
});
