import { expect, test } from "vitest";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { Resend } from "../../src/runs/conditions.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import { restartSandbox } from "../../src/sandbox/start.js";
import { startFrozen } from "../support/doors.js";
import { ask, collectTraces } from "../support/varied.js";

function started(resend: Omit<Resend, "key">, claim?: (name: string) => boolean) {
  const sandbox = startFrozen("key-states", {
    run: conditionedRun({ resend: { key: "active", ...resend } }, claim),
  });
  const seen = collectTraces(sandbox);
  const send = (waitMs = 0, key = "active") => {
    if (waitMs > 0) operations.advance(sandbox, { by: waitMs });
    return ask(sandbox, { key }).status;
  };
  const arrivals = () => seen.map(({ arrival }) => arrival?.when);
  return { sandbox, send, seen, arrivals };
}

test("one request with the key is rejected, by its number among those that are accepted otherwise", () => {
  const { send, seen } = started({ as: "401.revoked", only: [2, 2] });
  expect([send(), send(0, "live"), send(), send(), send()]).toEqual([200, 200, 401, 200, 200]);
  expect(seen.map(({ hit }) => hit)).toEqual([undefined, undefined, "200.test", undefined, undefined]);
});

test("its number counts over all processes of a run", () => {
  const claimed = new Set<string>();
  const claim = (name: string) => !claimed.has(name) && claimed.add(name).size > 0;
  const [one, other] = [1, 2].map(() => started({ as: "401.revoked", only: [3, 3] }, claim));
  expect([one?.send(), other?.send(), one?.send(), other?.send()]).toEqual([200, 200, 401, 200]);
});

test("a rejection of all requests lasts, and no reset clears it", () => {
  const { sandbox, send } = started({ as: "403.insufficient_scope" });
  const before = [send(), send()];
  restartSandbox(sandbox);
  expect([...before, send()]).toEqual([403, 403, 403]);
});

test("a request after a rejection is early, in time or late, on the clock that a test moves", () => {
  const { send, arrivals } = started({ as: "429.per_minute", seconds: 4, only: [1, 1] });
  expect([send(), send(3_900), send(60), send(2_500), send(100)]).toEqual([429, 200, 200, 200, 200]);
  expect(arrivals()).toEqual([undefined, "early", "in time", "in time", "late"]);
});

test("a rejection without Retry-After lasts until the minute ends", () => {
  const { send, arrivals } = started({ as: "429.per_minute", only: [1, 1] });
  expect([send(), send(1_000), send(59_000), send(3_000)]).toEqual([429, 200, 200, 200]);
  expect(arrivals()).toEqual([undefined, "early", "in time", "late"]);
});

test("a sandbox that starts again knows of no rejection that a client must wait for", () => {
  const { sandbox, send, arrivals } = started({ as: "429.per_minute", seconds: 4, only: [1, 1] });
  send();
  restartSandbox(sandbox);
  send();
  expect(arrivals()).toEqual([undefined, "late"]);
});

test("what comes in time may be rejected again, five times, and what comes early is accepted", () => {
  const again = { as: "429.per_minute", seconds: 4, only: [1, 1], rejectsInTime: true } as const;
  const inTime = started(again);
  expect([inTime.send(), ...Array.from({ length: 6 }, () => inTime.send(4_000))]).toEqual([
    ...Array(6).fill(429),
    200,
  ]);
  const soon = started(again);
  expect([soon.send(), soon.send(1_000), soon.send(3_000), soon.send(3_000)]).toEqual([429, 200, 429, 200]);
});

test("an outage rejects so many requests, and says how long after the last one each came", () => {
  const { send, seen } = started({ as: "fault.status", only: [1, 3] });
  expect([send(), send(60_000), send(120_000), send()]).toEqual([503, 503, 503, 200]);
  expect(seen.slice(1, 3).map(({ arrival }) => arrival?.afterMs)).toEqual([60_000, 120_000]);
});

test("a rejected request counts against no limit of the key (R24)", () => {
  for (const as of ["fault.status", "401.revoked"] as const) {
    const { sandbox, send } = started({ as });
    send();
    expect(sandbox.registry.key("active").usage).toMatchObject({ minuteCount: 0, dayCount: 0 });
  }
});

test("a control gets a 404, or a 200 without data", () => {
  const missing = started({ as: "404.unknown_path", only: [1, 1] });
  expect([missing.send(), missing.send()]).toEqual([404, 200]);
  const { sandbox } = started({ as: "empty", only: [1, 1] });
  expect(ask(sandbox, { key: "active" })).toMatchObject({
    status: 200,
    body: '{"data":{}}',
    outcome: "200.test",
  });
});
