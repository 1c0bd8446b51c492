import { expect, test } from "vitest";
import { certifySuite } from "./generated/certify-suite.js";
import { type Client, Unexpected } from "./generated/client.js";
import { goodSuite, type KeyRef, type Suite, type Test } from "./generated/suite.js";
import { kindsOf, resultsOf } from "./hand-made.js";

// Which clients send a rejected key again, and which only look like it.

const testOf = (key: KeyRef, more: Partial<Test> = {}): Test => ({
  key,
  times: 1,
  isParallel: false,
  ...more,
});
const others = (["live", "revoked", "wrong-scope", "unknown", "rate-limited"] as const).map((key) =>
  testOf(key),
);

const unlimited = others.filter(({ key }) => key !== "rate-limited");

/** Certifies the resends of a client whose tests send the default key like this. */
async function resendsOf(
  ofKey: readonly Test[],
  client: Partial<Client> = {},
  change: Partial<Suite> = {},
  label = "resends",
) {
  const suite = { ...goodSuite, tests: [...ofKey, ...others], ...change };
  const certified = await certifySuite(
    { ...suite, client: { ...suite.client, ...client } },
    { label, only: ["varied", "resend"] },
  );
  const results = resultsOf(certified.checks);
  return { ...certified, resultOf: (name: string) => results[name] };
}

const warmUp = { when: "warm-up", key: "active", count: "fixed", max: 1 } as const;
const heartbeat = { ...warmUp, when: "heartbeat" } as const;
const unused = { ...warmUp, when: "each test", max: 3 } as const;
const times = (count: number, more: Partial<Test> = {}) =>
  Array.from({ length: count }, () => testOf("active", more));
test("what holds names its key", async () => {
  const { problems, resultOf } = await resendsOf(times(7));
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toMatchObject({ kind: "held", key: "active" });
});

test.each([2, 3, 5])("a correct client that waits as asked, with %i tries, holds", async (limitTries) => {
  const { resultOf } = await resendsOf(times(2), { limitTries, tries: limitTries });
  const timed = ["429.seconds", "429.date", "429.without", "503.seconds"];
  expect(timed.map((name) => resultOf(`resend.${name}`)?.kind)).toEqual(timed.map(() => "held"));
});

test("a client that waits while its tests send the key at the same time holds", async () => {
  const { problems, resultOf } = await resendsOf([testOf("active", { times: 3, isParallel: true })], {
    limitTries: 3,
  });
  expect(problems).toEqual([]);
  expect(resultOf("resend.429.seconds")?.kind).toBe("held");
});

const timed = ["resend.429.seconds", "resend.429.date", "resend.429.without", "resend.503.seconds"];
const together = (more: Partial<Test>) => [testOf("active", { times: 4, isParallel: true, ...more })];

test.each<[string, readonly Test[], Partial<Client>, Partial<Suite>]>([
  ["waits 3 s longer, with parallel callers", together({}), { marginMs: 3000 }, {}],
  [
    "waits a minute longer on the sandbox's clock",
    together({}),
    { marginMs: 60_000 },
    { timers: "moves the clock" },
  ],
  ["has two workers", times(4), {}, { hasWorkers: true, place: "own" }],
])("a correct client that %s is not accused of haste", async (_, tests, client, change) => {
  const { problems, resultOf } = await resendsOf(tests, { limitTries: 3, tries: 3, ...client }, change);
  expect(problems).toEqual([]);
  expect(timed.map((name) => resultOf(name)?.kind)).toEqual(timed.map(() => "held"));
});

test("callers that start one after the other in an outage, each with a few tries, are no problem", async () => {
  const { problems } = await resendsOf(together({ staggerMs: 500 }), { tries: 4, pauseMs: 2000 });
  expect(problems).toEqual([]);
});

test("a client that sends a 401 again only in the first run that rejects the key does not hold", async () => {
  let rejections = 0;
  const firstOnly: Partial<Client> = {
    triesAfter({ status }) {
      rejections += status === 401 ? 1 : 0;
      return status === 401 && rejections === 1 ? 2 : 1;
    },
  };
  // No other key gets a 401.
  const rest = (["live", "legacy", "retiring", "wrong-scope", "rate-limited"] as const).map((key) =>
    testOf(key),
  );
  const { problems, resultOf } = await resendsOf(times(2), firstOnly, { tests: [...times(2), ...rest] });
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toMatchObject({
    why: expect.stringMatching(/^after a 401, .* in 1 of 3 runs$/),
  });
});

test("a command that fails at random holds nothing that rests on one run", async () => {
  const hasty: Partial<Client> = { limitTries: 3, waitAfter: () => 10, waitForLimit: () => 10 };
  for (const percent of [20, 30, 40]) {
    const { checks } = await resendsOf(times(2), hasty, { flakiness: percent });
    const kinds = kindsOf(checks);
    expect(timed.filter((name) => kinds[name] === "held")).toEqual([]);
  }
});

test("what was sent again is named although the command fails: a test counts its requests", async () => {
  let limits = 0;
  const counting: Partial<Client> = {
    limitTries: 3,
    tries: 1,
    waitAfter: () => 10,
    waitForLimit: () => 10,
    look({ status }) {
      limits += status === 429 ? 1 : 0;
    },
  };
  const { problems, resultOf } = await resendsOf(times(2), counting, {
    tests: [...times(2), ...unlimited],
    checks() {
      if (limits === 0) return true;
      limits = 0;
      throw new Unexpected("two requests");
    },
  });
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    expect.stringMatching(/again \d+ ms after a 429/),
  ]);
  expect(resultOf("resend.429.seconds")?.kind).toBe("failed");
});

test("a key whose last rejection is survived on purpose is not the one that is rejected", async () => {
  const tests = [testOf("active"), testOf("active", { client: { secondKeys: { active: "live" } } })];
  const { resultOf } = await resendsOf(tests, {}, { tests: [...tests, ...unlimited] });
  expect(resultOf("resend.401")).toMatchObject({
    why: expect.stringMatching(/^only one request has SVC_KEY_LIVE/),
  });
});

test("a client that sends any status but 200 again is not judged", async () => {
  const client: Partial<Client> = { triesAfter: () => 3 };
  const { problems, resultOf } = await resendsOf(times(2), client);
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toMatchObject({
    why: expect.stringMatching(
      /^asks again after every failure \(401, [\d, ]+\): the client, or the runner's/,
    ),
    whatToDo: "Turn the runner's retries off, or add --allow resend.",
  });
});

test("tests in random order, of which some wait for a 200, are hardly ever accused: three runs with a 404 look alike, too", async () => {
  const tests = [testOf("active"), ...times(2, { polls: { most: 5, everyMs: 100 } })];
  const suite = { tests: [...tests, ...others], order: "shuffled" } as const;
  let accused = 0;
  for (let order = 0; order < 20; order++) {
    const { problems } = await resendsOf(tests, {}, suite, `order ${order}`);
    if (problems.length > 0) accused += 1;
  }
  expect(accused).toBeLessThanOrEqual(2);
});

test.each<[string, readonly Test[], Partial<Client>, Partial<Suite>]>([
  ["tests that all wait for a 200", times(2, { polls: { most: 5, everyMs: 100 } }), {}, {}],
  [
    "tests that wait for a 200",
    [testOf("active", { polls: { most: 5, everyMs: 100 } }), ...times(2)],
    {},
    {},
  ],
  ["a warm-up whose response is kept", times(2), { caches: true }, { extras: [warmUp] }],
  ["a warm-up that is not used", times(2), { limitTries: 3 }, { extras: [{ ...warmUp, max: 2 }] }],
  [
    "two requests at once, of which a fault of the tests hits one",
    times(1),
    { hedgeMs: 0 },
    { faults: "sets one", resets: true },
  ],
  ["two requests at once, of which the first success wins", times(2), { hedgeMs: 0 }, {}],
  ["requests in the background", times(2), { limitTries: 2 }, { extras: [heartbeat] }],
  [
    "slow requests in the background",
    times(2),
    { limitTries: 3 },
    { tests: [...times(2), ...unlimited], extras: [{ ...heartbeat, everyMs: 2500 }] },
  ],
  ["callers 50 ms apart of what is kept", together({ staggerMs: 50 }), { caches: true, limitTries: 3 }, {}],
  [
    "requests of a failed test",
    times(2),
    {},
    { extras: [{ ...warmUp, when: "diagnosis", count: "file", max: 3 }] },
  ],
  ["requests that nobody uses", times(1), {}, { place: "own for each test", extras: [unused] }],
  ["a runner that repeats tests", times(2), {}, { repeats: 2 }],
  ["a runner that repeats tests of what is kept", times(1), { caches: true }, { repeats: 1 }],
])("%s are no resends", async (_, tests, client, change) => {
  const { problems } = await resendsOf(tests, client, change);
  expect(problems).toEqual([]);
});

test("a client that waits out a 429 is not missing its requests when the 429 is replaced, and --allow comes first", async () => {
  const tests = [...others, testOf("active"), testOf("rate-limited-minute", { client: { limitTries: 2 } })];
  const ofAnswer = async (allow: readonly string[]) => {
    const checks = (key: KeyRef) => key !== "rate-limited-minute";
    const suite = { ...goodSuite, tests, allow, checks, timers: "moves the clock" } as const;
    const certified = await certifySuite(suite, { label: "answers", only: ["answer.429.per_minute"] });
    return kindsOf(certified.checks)["answer.429.per_minute"];
  };
  expect([await ofAnswer([]), await ofAnswer(["429.per_minute"])]).toEqual(["failed", "allowed"]);
});
