import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { listUpcoming } from "./lifelines.js";

const scenario: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test" },
      },
    },
  },
  timeline: [{ at: "5m", organization: { ref: "bank", status: "inactive" } }],
};

test("an event of this very millisecond is not upcoming", () => {
  const sandbox = startFrozen(scenario);
  const kinds = () => listUpcoming(sandbox).map(({ kind }) => kind);
  sandbox.clock.advance(299_999);
  expect(kinds()).toContain("timeline_step");
  sandbox.clock.advance(1);
  expect(kinds()).not.toContain("timeline_step");
});
