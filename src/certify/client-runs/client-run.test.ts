import { expect, test } from "vitest";
import { timeoutsFor } from "./client-run.js";

test.each<[string, Parameters<typeof timeoutsFor>, { readonly total: number; readonly silent: number }]>([
  ["what --timeout sets", [5_000, 1_000, 61_000], { total: 5_000, silent: 5_000 }],
  ["a minute for the plain run", [undefined, undefined], { total: 60_000, silent: 60_000 }],
  ["half a minute for a short run", [undefined, 1_000], { total: 30_000, silent: 30_000 }],
  ["five times a long run", [undefined, 20_000], { total: 100_000, silent: 100_000 }],
  [
    "longer, and so long without a request, if the client may wait",
    [undefined, 1_000, 61_000],
    { total: 91_000, silent: 62_000 },
  ],
  ["at least half a minute without a request", [undefined, 1_000, 10_000], { total: 40_000, silent: 31_000 }],
  [
    "no less without a request than if the client may not wait",
    [undefined, 60_000, 30_000],
    { total: 330_000, silent: 300_000 },
  ],
])("a run has %s", (_, [timeout, plainMs, wait], expected) => {
  expect(timeoutsFor(timeout, plainMs, wait)).toEqual(expected);
});
