import { expect, test } from "vitest";
import { certifySuite } from "./generated/certify-suite.js";
import { type Client, retryAfter, Unexpected } from "./generated/client.js";
import { goodSuite, type KeyRef, type Suite, type Test } from "./generated/suite.js";
import { kindsOf, reasonOf, resultsOf } from "./hand-made.js";

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
const resendsA403: Partial<Client> = { triesAfter: ({ status }) => (status === 403 ? 2 : 1) };

test("what holds names its key", async () => {
  const { problems, resultOf } = await resendsOf(times(7));
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toEqual({ kind: "held", key: "active" });
});

test("one of two functions that sends a 403 again is not named, but listed", async () => {
  const [right, wrong] = [testOf("active"), testOf("active", { client: resendsA403 })];
  const whyOf = async (...tests: Test[]) => {
    const { problems, resultOf } = await resendsOf(tests);
    const result = resultOf("resend.403.insufficient_scope");
    return [
      problems.length,
      result?.kind === "not_judged" ? result.reason.why.replace(/.*, but/, "but") : "",
    ];
  };
  const why = "but not each time when every other request with it got a 403 with `insufficient_scope`";
  expect(await whyOf(wrong, right, right, wrong)).toEqual([0, why]);
  expect(await whyOf(right, wrong, right, wrong)).toEqual([0, why]);
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

test("a client that waits in some runs only does not hold, and is not accused", async () => {
  let waits = 0;
  const jitters: Partial<Client> = {
    limitTries: 3,
    tries: 1,
    longestWaitMs: 10_000,
    waitAfter({ status, header }) {
      if (status !== 429 || header("retry-after") !== "4") return 60_000;
      waits += 1;
      return waits === 2 ? 3200 : 4800;
    },
  };
  const { problems, resultOf } = await resendsOf(times(2), jitters);
  expect(problems).toEqual([]);
  expect(resultOf("resend.429.seconds")).toMatchObject({
    reason: {
      why: expect.stringMatching(
        /^after a 429 with `Retry-After: 4`, .*, 320\d ms later\), but only in some runs$/,
      ),
    },
  });
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
    reason: { why: expect.stringMatching(/^after a 401, .*, but only in some runs$/) },
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

test("what was sent again and made the command fail is not held: a test counts its requests", async () => {
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
  expect(problems).toEqual([]);
  expect(resultOf("resend.429.seconds")).toMatchObject({
    reason: { why: expect.stringMatching(/^after a 429 .*, and the command then failed$/) },
  });
});

test("a last response that is survived on purpose shows nothing", async () => {
  const tests = [testOf("active"), testOf("active", { client: { secondKeys: { active: "live" } } })];
  const { resultOf } = await resendsOf(tests, {}, { tests: [...tests, ...unlimited] });
  expect(resultOf("resend.401")).toMatchObject({
    reason: {
      why: "the command passes when the last request with SVC_KEY_ACTIVE gets a 401, and does not send it again",
    },
  });
});

test("a client that sends any status but 200 again is not judged, and so is a key that is sent once", async () => {
  const client: Partial<Client> = { triesAfter: () => 3 };
  const { problems, resultOf } = await resendsOf(times(2), client);
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toMatchObject({
    reason: { why: "SVC_KEY_ACTIVE was also sent again after a 404" },
  });
  const once = await resendsOf(times(1), client);
  expect(once.resultOf("resend.401")).toMatchObject({
    reason: { why: expect.stringMatching(/^the plain run sent SVC_KEY_ACTIVE.* once$/) },
  });
});

test.each(Array.from({ length: 20 }, (_, at) => at))(
  "tests in random order, of which some wait for a 200, are not accused: order %i",
  async (order) => {
    const tests = [testOf("active"), ...times(2, { polls: { most: 5, everyMs: 100 } })];
    const suite = { tests: [...tests, ...others], order: "shuffled" } as const;
    expect((await resendsOf(tests, {}, suite, `order ${order}`)).problems).toEqual([]);
  },
);

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

test("nothing holds that a run contradicts: a 401 that is sent again if it has a challenge", async () => {
  const hasChallenge: Client["triesAfter"] = ({ status, header }) =>
    status === 401 && header("www-authenticate") !== undefined ? 2 : 1;
  const { problems, resultOf } = await resendsOf(times(2), { triesAfter: hasChallenge });
  expect(problems).toEqual([]);
  expect(resultOf("resend.401")).toMatchObject({
    kind: "not_judged",
    reason: {
      why: expect.stringMatching(/^more requests got a 401 in varied\.\d than in the plain run$/),
    },
  });
  expect(resultOf("resend.403.insufficient_scope")?.kind).toBe("held");
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

/** A suite with these tests, which are read at the start of each run. */
const startingWith = (tests: readonly Test[], start: () => void): Partial<Suite> => ({
  get tests() {
    start();
    return tests;
  },
});

test("a client that sends a key again once in a run does not hold: its plain run sends the first rejected key twice", async () => {
  let isUsed = false;
  const triesAfter: Client["triesAfter"] = ({ status }) => {
    if (status !== 401 || isUsed) return 1;
    isUsed = true;
    return 2;
  };
  const suite = Object.defineProperties(
    { ...goodSuite, client: { ...goodSuite.client, triesAfter } },
    Object.getOwnPropertyDescriptors(
      startingWith([testOf("expired"), ...times(2), ...others], () => {
        isUsed = false;
      }),
    ),
  );
  const { checks, problems } = await certifySuite(suite, { label: "budget" });
  expect(problems).toEqual([]);
  expect(reasonOf(resultsOf(checks)["resend.401"])?.why).toMatch(
    /^SVC_KEY_\w+ got a 401, and was sent 2 times in answer\.401\.\w+, and 1 in the plain run$/,
  );
});

test("a client that waits after one 429, and not after a second one in a row, does not hold", async () => {
  let limits = 0;
  const impatient: Partial<Client> = {
    limitTries: 3,
    waitAfter: (reply) => {
      if (reply.status !== 429) return retryAfter(reply);
      limits += 1;
      return limits === 2 ? 1 : retryAfter(reply);
    },
  };
  const suite = Object.defineProperties(
    { ...goodSuite, client: { ...goodSuite.client, ...impatient } },
    Object.getOwnPropertyDescriptors(
      startingWith([...times(2), ...unlimited], () => {
        limits = 0;
      }),
    ),
  );
  const { checks, problems } = await certifySuite(suite, { label: "second", only: ["varied", "resend"] });
  expect(problems).toEqual([]);
  expect(reasonOf(resultsOf(checks)["resend.429.seconds"])?.why).toMatch(
    /^after two 429 in a row, SVC_KEY_ACTIVE was sent again \(req_\w+, \d+ ms later\)$/,
  );
});
