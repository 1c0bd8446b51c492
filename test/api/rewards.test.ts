import { expect, test } from "vitest";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { Resend } from "../../src/runs/conditions.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import { restartSandbox } from "../../src/sandbox/start.js";
import { startFrozen } from "../support/doors.js";
import { ask, observe } from "../support/varied.js";

function started(resend: Omit<Resend, "key" | "after"> & { readonly after?: number }) {
  const sandbox = startFrozen("key-states", {
    conditions: conditionedRun({ resend: { key: "active", after: 0, ...resend } }),
  });
  const seen = observe(sandbox);
  const send = (waitMs = 0, key = "active") => {
    if (waitMs > 0) operations.advance(sandbox, { by: waitMs });
    return ask(sandbox, { key }).status;
  };
  return { sandbox, send, rewards: () => seen.filter((one) => one.rewardedAfterMs !== undefined).length };
}

test("of each two requests with the key the first is rejected, and other keys are left alone", () => {
  const { send, rewards } = started({ outcome: "401.revoked", when: "always" });
  expect([send(), send(0, "live"), send(), send(), send()]).toEqual([401, 200, 200, 401, 200]);
  expect(rewards()).toBe(2);
});

test("a form may start later, and a rejection may last", () => {
  const { send } = started({ outcome: "403.insufficient_scope", when: "always", after: 1, lasts: true });
  expect([send(), send(), send(), send()]).toEqual([200, 403, 403, 403]);
});

test("after a 429, what comes too soon is accepted, and what comes in time is rejected again, five times", () => {
  const soon = started({ outcome: "429.per_minute", when: "too soon", seconds: 4 });
  expect([soon.send(), soon.send(1_000), soon.send()]).toEqual([429, 200, 429]);
  const inTime = started({ outcome: "429.per_minute", when: "too soon", seconds: 4 });
  expect([inTime.send(), ...Array.from({ length: 6 }, () => inTime.send(4_000))]).toEqual([
    ...Array(5).fill(429),
    200,
    429,
  ]);
  expect([soon.rewards(), inTime.rewards()]).toEqual([1, 0]);
});

test("a rejection without Retry-After lasts until the minute ends, on the clock that a test moves", () => {
  const { send } = started({ outcome: "429.per_minute", when: "too soon", lasts: true });
  expect([send(), send(1_000), send(60_000)]).toEqual([429, 429, 200]);
});

test("in an outage only the seventh request without a pause is accepted, or the 21st", () => {
  const hasty = started({ outcome: "fault.status", when: "hasty" });
  expect(Array.from({ length: 8 }, () => hasty.send(100))).toEqual([...Array(6).fill(503), 200, 503]);
  const atOnce = started({ outcome: "fault.status", when: "hasty" });
  expect(Array.from({ length: 8 }, (_, at) => atOnce.send(at % 2 === 0 ? 100 : 0))).not.toContain(200);
  const endless = started({ outcome: "fault.status", when: "hasty" });
  expect(Array.from({ length: 21 }, () => endless.send(1_000))).toEqual([...Array(20).fill(503), 200]);
});

test("a request that comes much later than a lasting rejection meets a new one", () => {
  const { send } = started({ outcome: "429.per_minute", when: "too soon", seconds: 4, lasts: true });
  expect([send(), send(5_000), send(40_000), send(1_000)]).toEqual([429, 200, 429, 429]);
});

test("a form that starts later does so in each sandbox if the next request may come too soon", () => {
  const { sandbox, send } = started({ outcome: "429.per_minute", when: "too soon", seconds: 4, after: 1 });
  const before = [send(), send()];
  restartSandbox(sandbox);
  expect([...before, send(), send()]).toEqual([200, 429, 200, 429]);
});

test("an outage counts against no limit of the key (R24)", () => {
  const { sandbox, send } = started({ outcome: "fault.status", when: "hasty", lasts: true });
  send();
  expect(sandbox.registry.key("active").usage).toMatchObject({ minuteCount: 0, dayCount: 0 });
});

test("no reset clears the rejections of a run", () => {
  const { sandbox, send } = started({ outcome: "401.revoked", when: "always" });
  send();
  restartSandbox(sandbox);
  expect([send(), send()]).toEqual([200, 401]);
});
