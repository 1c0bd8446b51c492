import { pick, type RandomStream } from "../../../src/rules/seed.js";
import type { Suite, Test } from "./suite.js";

/** What correct clients do that a sandbox could take for haste: each changes a suite without a flaw. */
const habits: Readonly<Record<string, (suite: Suite, draw: RandomStream) => Partial<Suite>>> = {
  "waits longer than asked": ({ client }, draw) => ({
    client: { ...client, marginMs: pick(draw, [500, 1000, 3000, 10_000, 60_000]) },
  }),
  "waits with jitter": ({ client }, draw) => ({
    client: { ...client, jitter: pick(draw, [0.1, 0.25, 0.5, 1]) },
  }),
  "has parallel callers": ({ tests }, draw) => ({
    tests: withActive(tests, { times: 2 + (draw() % 4), isParallel: true }),
  }),
  "has callers one after the other": ({ tests }, draw) => ({
    tests: withActive(tests, {
      times: 2 + (draw() % 4),
      isParallel: true,
      staggerMs: pick(draw, [20, 50, 300, 500, 1500]),
    }),
  }),
  "limits its requests": ({ client }, draw) => ({
    client: {
      ...client,
      limiter: pick(draw, [{ atOnce: 1 }, { atOnce: 2 }, { everyMs: 50 }, { everyMs: 1000 }]),
    },
  }),
  "has a circuit breaker": ({ client }, draw) => ({
    client: {
      ...client,
      breaker: { coolMs: pick(draw, [500, 5000, 30_000]), failsFast: draw() % 3 === 0 },
    },
  }),
  "keeps responses for a while": ({ client }, draw) => ({
    client: { ...client, caches: true, keepsMs: pick(draw, [200, 1000, 5000, 60_000]) },
  }),
  "shares a first call": ({ client }) => ({ client: { ...client, shares: true } }),
  "has a budget of retries": ({ client, faults }, draw) => ({
    client: { ...client, retryBudget: 4 + (draw() % 8) },
    // Faults of its own would use it up.
    faults: faults === "sets one" ? "leaves them" : faults,
  }),
  "ends a call after some time": ({ client }, draw) => ({
    // Long enough for a second request after one without a response.
    client: { ...client, deadlineMs: 2 * client.timeoutMs + pick(draw, [5000, 10_000, 60_000]) },
  }),
  "sends a late request twice": ({ client }, draw) => ({
    client: { ...client, hedgeMs: pick(draw, [20, 100, 500, 2000]) },
  }),
  "waits on the sandbox's clock": () => ({ timers: "moves the clock" }),
  "has a heartbeat": ({ extras }, draw) => ({
    extras: [
      ...extras.filter(({ when }) => when !== "heartbeat"),
      {
        when: "heartbeat",
        key: "active",
        count: "fixed",
        max: 1,
        everyMs: pick(draw, [1000, 2500, 5000, 10_000, 30_000]),
      },
    ],
  }),
  // With their own sandboxes: a reset or a clock that is moved would break the tests of the other one.
  "has two workers": ({ place, timers }) => ({
    hasWorkers: true,
    place: place === "server" ? "own" : place,
    timers: timers === "fake" ? "real" : timers,
  }),
};

const withActive = (tests: readonly Test[], change: Partial<Test>): Test[] =>
  tests.map((test) => (test.key === "active" ? { ...test, ...change } : test));

/** Returns a suite without a flaw whose client has two to four of these habits, and sends a request again after a limit. */
export function withHabits(suite: Suite, draw: RandomStream): Suite {
  const names = Object.keys(habits);
  const count = 2 + (draw() % 3);
  const chosen = new Set<string>();
  while (chosen.size < count) chosen.add(pick(draw, names));
  const patient = { ...suite.client, limitTries: 2 + (draw() % 3), longestWaitMs: 240_000 };
  // The overlap of a retiring key ends while such a client waits.
  const tests = suite.tests.filter(({ key }) => key !== "retiring");
  let changed: Suite = { ...suite, tests, client: patient };
  for (const name of chosen) changed = { ...changed, ...habits[name]?.(changed, draw) };
  return { ...changed, habits: [...(suite.habits ?? []), ...chosen] };
}
