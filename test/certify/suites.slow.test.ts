import { describe, expect, test } from "vitest";
import { certifySuite } from "./generated/certify-suite.js";
import { type Client, retryAfter, Unexpected } from "./generated/client.js";
import { type Flaw, flaws, withFlaw } from "./generated/flaws.js";
import { findingsIn, judge } from "./generated/judge.js";
import { goodSuite, type KeyRef, keys, type Suite } from "./generated/suite.js";
import { kindsOf, resultsOf } from "./hand-made.js";

// Suites that once got a wrong verdict, each with the part that matters.

const notMade = "not made";
/** Whether a reason says that certify was stopped before it was answered. */
const isOpen = (why: string) => why === "certify was stopped";

const flawThat = (does: string) => flaws.find((flaw) => flaw.does === does) as Flaw;

const testsOf = (...refs: readonly KeyRef[]): Suite["tests"] =>
  refs.map((key) => ({ key, times: 1, isParallel: false }));
const base = {
  ...goodSuite,
  tests: testsOf("active", "live", "revoked", "wrong-scope", "unknown", "rate-limited"),
};

const outcomesIn = async (suite: Suite) => {
  const { verdict, checks } = await certifySuite(suite, { label: "suites" });
  return { verdict, outcomes: kindsOf(checks) };
};

const judged = async (does: string, change: Partial<Suite>) => {
  const flaw = flawThat(does);
  const certificate = await certifySuite(withFlaw({ ...base, ...change }, flaw), { label: "suites" });
  return { judgment: judge(certificate, flaw), findings: findingsIn(certificate) };
};

test.each([
  "compares the whole Content-Type",
  "rejects unknown members of data",
  "reads the body without a parser for JSON",
  "rejects an ETag",
  "requires a Content-Length",
])(
  "a client that %s is named, although it sends a request again after a response that it cannot read",
  async (does) => {
    expect((await judged(does, { client: { ...base.client, readsAgain: true } })).judgment).toBe("named");
  },
);

test.each([
  ["half of Retry-After", (ms: number) => ms / 2],
  ["900 ms less than Retry-After", (ms: number) => ms - 900],
  ["10 ms", () => 10],
])(
  "an early request that was accepted is never held: a client that waits %s and persists",
  async (_, shorten) => {
    const client: Client = {
      ...base.client,
      ...{ tries: 2000, limitTries: 2000, pauseMs: 1 },
      waitAfter: (reply) => {
        const ms = retryAfter(reply);
        return ms === undefined ? undefined : Math.max(1, shorten(ms));
      },
    };
    const tests = testsOf("active", "active", "live", "revoked", "wrong-scope", "unknown");
    const { checks } = await certifySuite({ ...base, client, tests }, { label: "suites", only: ["resend"] });
    const early = resultsOf(checks)["resend.429.seconds"];
    expect(early?.kind).not.toBe("held");
    if (early?.kind === "not_judged") {
      expect(early.why).toMatch(/^after a 429 with `Retry-After: 4`, /);
    }
  },
);

test("a 401 and codes of 403 that are sent again by one loop are one problem, which lists them", async () => {
  const tests = [...testsOf("active", "active", "organization-inactive"), ...base.tests.slice(1)];
  const client: Client = { ...base.client, triesAfter: ({ status }) => (status === 404 ? 1 : 3) };
  const { problems } = await certifySuite({ ...base, client, tests }, { label: "suites", only: ["resend"] });
  expect(problems.map(({ runs }) => runs)).toEqual([
    ["resend.401", "resend.403.access_denied", "resend.403.insufficient_scope"],
  ]);
});

test("a pause that tests replace by nothing is one problem, whose fix has the sandbox's clock in brackets", async () => {
  const tests = [...testsOf("active", "active"), ...base.tests.slice(1, -1)];
  const client = { ...base.client, limitTries: 3 };
  const { problems } = await certifySuite({ ...base, client, tests, timers: "nothing" }, { label: "suites" });
  expect(problems).toHaveLength(1);
  expect(problems[0]?.sentence).toMatch(
    /^Sends ACTIVE again \d+ ms after a 429 without `Retry-After`, \d+ ms after a 429 with `Retry-After: 4`.* \(3 of 3 runs; not after a 404; [^()]+\)$/,
  );
  expect(problems[0]?.whatToDo).toMatch(
    /^Wait for Retry-After.* If your tests replace the pause, move the sandbox's clock by it\. .*--allow resend\.429/,
  );
});

test.each([
  [
    "resend",
    ["live", "revoked", "wrong-scope", "unknown", "rate-limited"],
    /^\d of \d resends show nothing: no key that always works/,
  ],
  [
    "answer.200.retiring",
    ["active", "live", "revoked", "wrong-scope", "unknown"],
    /^the client covers no outcome/,
  ],
] as const)("--only %s of what is not tried is not judged", async (only, refs, reason) => {
  const suite = { ...base, tests: testsOf(...refs), allow: ["200.live"] };
  const { verdict, why } = await certifySuite(suite, { label: "suites", only: [only] });
  expect([verdict, why]).toEqual(["not_judged", expect.stringMatching(reason)]);
});

test("responses that differ in one run break a client that remembers the first one, and only in varied.mixed", async () => {
  let first: string | undefined;
  let run = 0;
  const client: Client = {
    ...base.client,
    look({ status, header }) {
      if (status !== 200) return;
      const type = header("content-type");
      if (run !== started) [run, first] = [started, type];
      if (type !== first) throw new Unexpected("another Content-Type");
    },
  };
  let started = 0;
  const suite: Suite = {
    ...base,
    client,
    checks: () => true,
    // Read at the start of each run.
    get tests() {
      started += 1;
      return base.tests;
    },
  };
  const { problems } = await certifySuite(suite, { label: "suites", only: ["varied"] });
  expect(problems.map(({ name, again }) => [name, again[0]])).toEqual([["varied.mixed", "certify"]]);
});

test("a runner that repeats failing tests hides faults and resends, so the client does not pass, unless --allow names both", async () => {
  const repeating = { ...base, repeats: 1 };
  const { verdict, outcomes } = await outcomesIn(repeating);
  expect(verdict).toBe("not_judged");
  expect(outcomes).toMatchObject({ "fault.hang": "not_judged", "varied.1": "held" });
  expect((await outcomesIn({ ...repeating, allow: ["resend", "fault"] })).verdict).toBe("passed");
});

test("a fault hits a request whose response a test uses, and not a heartbeat's", async () => {
  const heartbeat = { when: "heartbeat", key: "live", count: "fixed", max: 1 } as const;
  expect(await judged("gives up after invalid JSON", { extras: [heartbeat] })).toEqual({
    judgment: "named",
    findings: ["fault.malformed"],
  });
});

test("a key that the client replaces on purpose takes no part in resends", async () => {
  const tests = [...testsOf("active", "active", "replacement", "live", "live"), ...base.tests.slice(2)];
  const change = {
    tests,
    allow: ["200.test"],
    client: { ...base.client, secondKeys: { active: "replacement" } },
  };
  expect(await judged("sends a key again after a 401", change)).toEqual({
    judgment: "named",
    findings: ["resend.401"],
  });
});

test("a client that sends too soon is named, although a later test uses the key long after a warm-up", async () => {
  const warmUp = { when: "warm-up", key: "active", count: "fixed", max: 3 } as const;
  const tests = testsOf("live", "revoked", "wrong-scope", "unknown", "rate-limited", "active");
  const change: Partial<Suite> = { tests, extras: [warmUp], client: { ...base.client, limitTries: 3 } };
  const { judgment, findings } = await judged("ignores the Retry-After of a 503", change);
  expect(judgment).toBe("named");
  expect(findings).toContain("resend.503.seconds");
});

test("a client that hands failures to its caller on purpose passes with --allow", async () => {
  const suite: Suite = { ...base, client: { ...base.client, survives: () => false } };
  const faults = ["fault.hang", "fault.status", "fault.truncate", "fault.malformed"] as const;
  const { problems } = await certifySuite(suite, { label: "suites", only: ["fault"] });
  expect(problems[0]?.whatToDo).toContain("--allow fault.truncate and --allow fault.malformed");
  const [first, ...others] = faults;
  const allowed = await certifySuite({ ...suite, allow: faults }, { label: "suites", only: ["fault"] });
  expect(allowed.problems).toEqual([]);
  expect(
    allowed.checks.filter(({ check }) => check.kind === "fault").map(({ result }) => result.kind),
  ).toEqual(faults.map(() => "allowed"));
  const some = await certifySuite({ ...suite, allow: others }, { label: "suites", only: ["fault"] });
  expect(some.problems.map(({ runs }) => runs)).toEqual([[first]]);
});

test("a client whose callers share a call in flight survives a fault of the last one", async () => {
  const client: Client = { ...base.client, shares: true };
  const shared = { key: "active", times: 3, isParallel: true, staggerMs: 150 } as const;
  const tests = [shared, ...testsOf("revoked", "wrong-scope", "unknown", "rate-limited")];
  const { checks } = await certifySuite({ ...base, client, tests }, { label: "suites", only: ["fault"] });
  const faults = kindsOf(checks.filter(({ check }) => check.kind === "fault"));
  expect(new Set(Object.values(faults))).toEqual(new Set(["held"]));
});

test("a test that counts requests is told so: the request was sent again after the fault", async () => {
  let failures = 0;
  const client: Client = {
    ...base.client,
    survives() {
      failures += 1;
      return true;
    },
  };
  const checks = () => {
    if (failures === 0) return true;
    failures = 0;
    throw new Unexpected("two requests");
  };
  const { problems } = await certifySuite({ ...base, client, checks }, { label: "suites", only: ["fault"] });
  expect(problems.map(({ sentence, whatToDo }) => [sentence, whatToDo])).toEqual([
    [
      expect.stringMatching(/^Fails when .* 503 .*, although the request came again \(3 of 3 runs\)$/),
      expect.stringContaining("`faults: false`"),
    ],
  ]);
});

const inTurn = [...testsOf("active", "active"), ...base.tests.slice(1)];

describe.each<[string, Suite]>([
  ["has no flaw", { ...base, tests: inTurn }],
  ...[
    "compares the whole Content-Type",
    "allows only headers that it knows",
    "sends a key again after a 401",
    "ignores the Retry-After of a 429",
    "gives up after invalid JSON",
    "does not check that a key is rejected",
  ].map((does): [string, Suite] => [does, withFlaw({ ...base, tests: inTurn }, flawThat(does))]),
])("a certificate that is interrupted, of a client that %s,", (_, suite) => {
  const whole = certifySuite(suite, { label: "interrupted" });
  test.each([1, 2, 3, 5, 8, 13, 19, 26, 34, 43])("after %i runs has only what these showed", async (runs) => {
    const { checks, problems, verdict, runs: total } = await whole;
    const stopped = await certifySuite(suite, { label: "interrupted", stopAfter: runs });
    expect([stopped.verdict, stopped.runs]).toEqual(runs < total ? ["stopped", runs] : [verdict, total]);
    expect(problems.map(({ name }) => name)).toEqual(
      expect.arrayContaining(stopped.problems.map(({ name }) => name)),
    );
    const named = stopped.problems.flatMap((problem) => problem.runs);
    const results = resultsOf(checks);
    for (const [name, result] of Object.entries(resultsOf(stopped.checks))) {
      if (result.kind === "failed") expect(named).toContain(name);
      if (result.kind === "held") expect([name, results[name]?.kind]).not.toEqual([name, "failed"]);
      if (result.kind === "not_judged" && runs < total) {
        expect([notMade, results[name]]).toContainEqual(isOpen(result.why) ? notMade : result);
      }
    }
  });
});

test("a client with a timeout of 11 seconds survives every fault, also beside a limit of a minute", async () => {
  const client = { ...base.client, timeoutMs: 11_000, limitTries: 2 };
  const tests = [...inTurn, ...testsOf("rate-limited-minute")];
  const suite: Suite = { ...base, client, tests, place: "own for each test" };
  const { verdict, checks } = await certifySuite(suite, { label: "suites", hasAllFaults: true });
  expect(verdict).toBe("passed");
  const faults = checks.filter(({ check }) => check.kind === "fault");
  expect(faults.map(({ result }) => result.kind)).toEqual(Array(7).fill("held"));
});

test("each status of the keys here is the one that the sandbox sends", async () => {
  const refs = Object.keys(keys) as KeyRef[];
  expect(await outcomesIn({ ...base, tests: testsOf("active", ...refs) })).toMatchObject({
    verdict: "passed",
  });
});
