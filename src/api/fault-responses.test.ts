import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import { asked } from "../../test/support/send.js";
import { unavailableResult } from "./fault-responses.js";
import { headerPairs } from "./http-messages.js";
import { startCall } from "./start-call.js";

test("the date after which a service is available again is on the clock of its client, and not on the sandbox's", () => {
  const sandbox = startFrozen("key-states", { now: Date.parse("2026-03-02T09:00:00Z") });
  const wall = Date.parse("2031-07-01T12:00:00Z");
  const late = { ...sandbox, platform: { ...sandbox.platform, time: () => wall } };
  const { response, date } = unavailableResult(late, startCall(late, asked({})), 4, true);
  expect(date).toBe(wall);
  expect(headerPairs(response.headers)).toContainEqual(["Retry-After", new Date(wall + 4000).toUTCString()]);
});
