import { expect, test } from "vitest";
import { asked } from "../../test/support/send.js";
import { startInNode } from "../node/platform.js";
import { secretToSend } from "../sandbox/secrets.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { handle } from "./handle.js";
import { headerPairs } from "./http-messages.js";

type Limits = { per_minute: number; per_day: number };

const now = "2026-03-02T09:00:26.250Z";

/** The headers of the response to the only request of a key with these limits, at a time with milliseconds. */
function headersOf(
  assumptions: NonNullable<Scenario["assumptions"]>,
  limits: Limits,
  usage = {},
  usedAt = now,
): Map<string, string> {
  const key = { environment: "test", limits, usage } as const;
  const scenario: Scenario = {
    version: 1,
    clock: { now: usedAt, frozen: true },
    assumptions,
    organizations: { bank: { type: "bank", keys: { key } } },
  };
  const sandbox = startInNode({ scenario, name: "limits" });
  sandbox.clock.set(Date.parse(now));
  const request = asked({ apiKey: secretToSend(sandbox, "key") });
  return new Map(headerPairs(handle(sandbox, request).response.headers));
}

test.each([
  ["09:00:00.000", "09:01:01"],
  ["09:00:00.001", "09:01:01"],
  ["09:00:00.999", "09:01:01"],
])(
  "R22 with a request at %s, Retry-After is the date %s, the next second after the reset",
  (cameAt, date) => {
    const assumptions = { retry_after: "date" } as const;
    const headers = headersOf(
      assumptions,
      { per_minute: 1, per_day: 1000 },
      { this_minute: 1 },
      `2026-03-02T${cameAt}Z`,
    );
    expect(headers.get("Retry-After")).toBe(`Mon, 02 Mar 2026 ${date} GMT`);
  },
);

test.each([
  ["day", 5, ["1000", "3", "53974"]],
  ["minute", 4, ["60", "3", "34"]],
  ["minute", 3, ["60", "2", "34"]],
])(
  "R5 the legacy headers name the %s when the minute has %i requests left, and the day 4",
  (_, left, named) => {
    const usage = { this_minute: 60 - left, today: 996 };
    const headers = headersOf({ rate_limit_headers: "legacy" }, { per_minute: 60, per_day: 1000 }, usage);
    const shown = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
    expect(shown).toEqual(named);
  },
);
