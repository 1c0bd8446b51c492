import { expect, test } from "vitest";
import { certifySuite } from "./generated/certify-suite.js";
import { goodSuite, type KeyRef } from "./generated/suite.js";

/** A correct client whose tests move the clock in place of each pause, so that its suite is over before many beats. */
const keys: readonly (readonly [key: KeyRef, times: number, isParallel: boolean])[] = [
  ["live-not-approved", 1, true],
  ["none", 1, false],
  ["expired", 4, false],
  ["legacy", 1, false],
  ["unknown", 4, false],
  ["rate-limited", 5, true],
  ["active", 1, true],
  ["rotated", 1, false],
];
const withoutPauses = {
  ...goodSuite,
  client: { ...goodSuite.client, tries: 4, pauseMs: 100, timeoutMs: 11_000 },
  tests: keys.map(([key, times, isParallel]) => ({ key, times, isParallel })),
  place: "own",
  timers: "moves the clock",
} as const;
const heartbeat = { when: "heartbeat", key: "active", count: "fixed", max: 4 } as const;

test("a request that comes on its own, equally often in each run without rejections, is no resend", async () => {
  const suite = { ...withoutPauses, extras: [heartbeat, { ...heartbeat, when: "warm-up", max: 1 }] } as const;
  const { problems } = await certifySuite(suite, {
    label: "background",
    only: ["varied", "resend"],
  });
  expect(problems).toEqual([]);
});

test("a runner that repeats tests is found although the client keeps what is accepted after a fault", async () => {
  const client = { ...withoutPauses.client, caches: true, tries: 5 };
  const tests = [
    ...withoutPauses.tests.filter(({ key }) => key !== "legacy"),
    { key: "retiring", times: 5, isParallel: false },
  ] as const;
  const suite = { ...withoutPauses, client, tests, place: "own for each test", timers: "fake" } as const;
  const { problems } = await certifySuite(
    { ...suite, faults: "sets one", repeats: 2, bails: true },
    { label: "repeats", only: ["varied", "resend"] },
  );
  expect(problems).toEqual([]);
});
