import { expect, test } from "vitest";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { createRedactKeys } from "../response/redact-keys.js";
import { readResponse } from "../response/redacted-response.js";
import { weighResponse } from "./evidence.js";

const responseOf = (status: number, json: unknown) => {
  const body = new TextEncoder().encode(JSON.stringify(json));
  return readResponse({ status, version: "1.1", reason: "", headers: [], body }, createRedactKeys([]));
};
const usage = (today: unknown, perDay: unknown) => ({
  data: { usage: { today }, limits: { per_day: perDay } },
});

test.each<[PromisedOutcomeId, number, unknown, boolean]>([
  ["429.per_day", 200, usage(1000, 1000), true],
  ["429.per_day", 200, usage(1001, 1000), false],
  ["429.per_day", 200, {}, true],
  ["429.per_day", 200, usage(1, null), true],
  ["429.per_minute", 200, {}, true],
  ["200.test", 429, {}, true],
  ["403.access_denied", 429, {}, true],
  ["401.unknown", 429, {}, true],
  ["429.per_day", 429, {}, false],
  ["403.insufficient_scope", 200, {}, true],
  ["403.access_denied", 200, {}, false],
  ["200.test", 200, {}, false],
])("%s with %i and %j shows nothing of its outcome: %j", (outcome, status, json, isNothingShown) => {
  const { kind } = weighResponse({ outcome, sentAt: 0 }, responseOf(status, json), []);
  expect(kind !== "judged").toBe(isNothingShown);
});
