import { expect, test } from "vitest";
import { certifySuite } from "./generated/certify-suite.js";
import { type Flaw, flaws, withFlaw } from "./generated/flaws.js";
import { findingsIn, judge } from "./generated/judge.js";
import { goodSuite, type KeyRef, keys, type Suite } from "./generated/suite.js";

// Suites that once got a wrong verdict, each with the part that matters.

const flawThat = (does: string) => flaws.find((flaw) => flaw.does === does) as Flaw;

const testsOf = (...refs: readonly KeyRef[]): Suite["tests"] =>
  refs.map((key) => ({ key, times: 1, isParallel: false }));
const base = {
  ...goodSuite,
  tests: testsOf("active", "live", "revoked", "wrong-scope", "unknown", "rate-limited"),
};

const outcomesIn = async (suite: Suite) => {
  const { verdict, checks } = await certifySuite(suite, { label: "suites" });
  return { verdict, outcomes: Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome])) };
};

const judged = async (does: string, change: Partial<Suite>) => {
  const flaw = flawThat(does);
  const certificate = await certifySuite(withFlaw({ ...base, ...change }, flaw), { label: "suites" });
  return { judgment: judge(certificate, flaw), findings: findingsIn(certificate) };
};

test("a runner that repeats failing tests hides faults and resends, which is listed and breaks no verdict", async () => {
  const { verdict, outcomes } = await outcomesIn({ ...base, repeats: 1 });
  expect(verdict).toBe("passed");
  expect(outcomes).toMatchObject({
    "what fails only once": "not_judged",
    "fault.hang": "not_judged",
    "varied.1": "held",
  });
});

test("a fault hits a request whose response a test uses, and not a heartbeat's", async () => {
  const heartbeat = { when: "heartbeat", key: "live", count: "fixed", max: 1 } as const;
  expect(await judged("gives up after invalid JSON", { extras: [heartbeat] })).toEqual({
    judgment: "named",
    findings: ["fault.malformed"],
  });
});

test("requests that nobody uses, in a new sandbox for each test, are no resends", async () => {
  const extra = { when: "each test", key: "active", count: "fixed", max: 3 } as const;
  const { verdict, outcomes } = await outcomesIn({ ...base, place: "own for each test", extras: [extra] });
  expect(verdict).toBe("passed");
  expect(Object.values(outcomes)).not.toContain("failed");
});

test("a client that never gives up is named, although its requests together are above a minute's limit", async () => {
  const tests = [{ key: "active", times: 5, isParallel: false } as const, ...base.tests.slice(1)];
  expect(await judged("never gives up", { tests })).toEqual({
    judgment: "named",
    findings: ["resend.outage"],
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
  expect(findings).toContain("resend.503.date");
});

test("a client with a timeout of 11 seconds survives every fault, also beside a limit of a minute", async () => {
  const client = { ...base.client, timeoutMs: 11_000, limitTries: 2 };
  const tests = [...base.tests, ...testsOf("rate-limited-minute")];
  const suite: Suite = { ...base, client, tests, place: "own for each test" };
  const { verdict } = await certifySuite(suite, { label: "suites", hasAllFaults: true });
  expect(verdict).toBe("passed");
});

test("each status of the keys here is the one that the sandbox sends", async () => {
  const refs = Object.keys(keys) as KeyRef[];
  expect(await outcomesIn({ ...base, tests: testsOf(...refs) })).toMatchObject({ verdict: "passed" });
});
