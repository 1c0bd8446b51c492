import { expect, test } from "vitest";
import type { ClientRun } from "../client-runs/client-run.js";
import { unknownCause } from "./cause-words.js";

const etag = { row: "etag", variant: "weak", status: 200 };
/** Only what the words read of a run. */
const failedRun = (seed: number, result: ClientRun["result"], code: number | null) =>
  ({ seed, result, code, points: [etag], lastRequest: undefined }) as Partial<ClientRun> as ClientRun;

test("runs without a known cause that end alike share their words, and each other one has its own", () => {
  const sentenceOf = (...runs: readonly ClientRun[]) => unknownCause(runs, runs).sentence.split(":")[0];
  const [two, five] = [failedRun(2, "failed", 1), failedRun(5, "failed", 1)];
  expect(sentenceOf(two, five)).toBe("The command fails with exit code 1 with seeds 2 and 5");
  expect(sentenceOf(two, failedRun(5, "timed_out", null))).toBe(
    "The command fails with exit code 1 with seed 2 and does not end in time with seed 5",
  );
  expect(sentenceOf(two, failedRun(5, "failed", 3))).toBe(
    "The command fails with exit code 1 with seed 2 and fails with exit code 3 with seed 5",
  );
});

test("if nothing varied in a run, no sentence says that rows were tried", () => {
  const run = { ...failedRun(4, "timed_out", null), points: [] };
  expect(unknownCause([run], [run]).sentence).toBe(
    "The command does not end in time with seed 4, before any response varied",
  );
});
