import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import type { Scenario } from "../../src/index.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { Replacement } from "../../src/runs/conditions.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { restartSandbox } from "../../src/sandbox/start-sandbox.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { startFrozen } from "../support/doors.js";
import { consents, withEndpoints } from "../support/scenario-endpoints.js";
import { asked } from "../support/send.js";
import { ask, collectTraces } from "../support/varied.js";

function started(nth: number, gets: Replacement, claim?: (name: string) => boolean) {
  const which = { kind: "nth", key: "active", nth } as const;
  const run = conditionedRun({ onRequest: { which, gets } }, claim);
  const sandbox = startFrozen("key-states", { run });
  const seen = collectTraces(sandbox);
  const send = (waitMs = 0, key = "active") => {
    if (waitMs > 0) operations.advance(sandbox, { by: waitMs });
    return ask(sandbox, { key }).status;
  };
  const arrivals = () =>
    seen.map(({ afterRejection }) => (afterRejection?.kind === "too_early" ? afterRejection.ms : undefined));
  return { sandbox, send, seen, arrivals };
}

/** Two processes of one run. */
function startedTwice(nth: number, gets: Replacement) {
  const claimed = new Set<string>();
  const claim = (name: string) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
  return [started(nth, gets, claim), started(nth, gets, claim)] as const;
}

test("one request with the key is rejected, by its number among those that are accepted otherwise", () => {
  const { send, seen } = started(2, { kind: "rejection", as: "401.revoked" });
  expect([send(), send(0, "live"), send(), send(), send()]).toEqual([200, 200, 401, 200, 200]);
  expect(seen.map(({ replaced }) => replaced)).toEqual([
    undefined,
    undefined,
    "200.test",
    undefined,
    undefined,
  ]);
});

test("its number counts over all processes of a run", () => {
  const [first, second] = startedTwice(3, { kind: "rejection", as: "401.revoked" });
  expect([first.send(), second.send(), first.send(), second.send()]).toEqual([200, 200, 401, 200]);
});

test("no reset starts its number again", () => {
  const { sandbox, send } = started(2, { kind: "rejection", as: "403.insufficient_scope" });
  const first = send();
  restartSandbox(sandbox);
  expect([first, send(), send()]).toEqual([200, 403, 200]);
});

test("a request after a rejection is before its time or not, on the clock that a test moves", () => {
  const { send, arrivals } = started(1, { kind: "rejection", as: "429.per_minute", seconds: 4 });
  expect([send(), send(3_900), send(60), send(2_500), send(100)]).toEqual([429, 200, 200, 200, 200]);
  expect(arrivals()).toEqual([undefined, 3_900, undefined, undefined, undefined]);
});

test("a rejection without Retry-After lasts until the minute ends", () => {
  const { send, arrivals } = started(1, { kind: "rejection", as: "429.per_minute" });
  expect([send(), send(1_000), send(59_000), send(3_000)]).toEqual([429, 200, 200, 200]);
  expect(arrivals()).toEqual([undefined, 1_000, undefined, undefined]);
});

test("a sandbox that starts again knows of no rejection that a client must wait for", () => {
  const { sandbox, send, arrivals } = started(1, { kind: "rejection", as: "429.per_minute", seconds: 4 });
  send();
  restartSandbox(sandbox);
  send();
  expect(arrivals()).toEqual([undefined, undefined]);
});

test("a request that comes in another process than the rejection shows nothing about time", () => {
  const [first, second] = startedTwice(2, { kind: "rejection", as: "429.per_minute", seconds: 4 });
  for (const { send } of [first, second, first, second]) send();
  const shown = [...first.seen, ...second.seen].map(({ afterRejection }) => afterRejection?.kind);
  expect(shown).toEqual([undefined, "by_other_process", undefined, "too_early"]);
});

test("a rejected request counts against no limit of the key (R24)", () => {
  for (const as of ["fault.status", "401.revoked"] as const) {
    const { sandbox, send } = started(1, { kind: "rejection", as });
    send();
    expect(sandbox.registry.key("active").usage).toMatchObject({ minuteCount: 0, dayCount: 0 });
  }
});

test("a fault that breaks a body hits no response without one", () => {
  const run = conditionedRun({
    onRequest: {
      which: { kind: "first", outcome: "204.endConsent" },
      gets: { kind: "fault", effect: { malformed: true } },
    },
  });
  const sandbox = startFrozen(withEndpoints, { run });
  const seen = collectTraces(sandbox);
  const request = { method: "DELETE", path: `${consents}/c-1`, apiKey: secretToSend(sandbox, "main") };
  expect(handle(sandbox, asked(request)).response.status).toBe(204);
  expect(seen.map(({ replaced }) => replaced)).toEqual([undefined]);
});

test("a control gets a 404", () => {
  const { send } = started(1, { kind: "rejection", as: "404.unknown_path" });
  expect([send(), send()]).toEqual([404, 200]);
});

test("a request that a fault of the scenario only delays counts, and can be rejected; one that the fault breaks does not", () => {
  const rejectedAt = (then: NonNullable<Scenario["faults"]>[number]["then"]) => {
    const which = { kind: "nth", key: "active", nth: 2 } as const;
    const run = conditionedRun({ onRequest: { which, gets: { kind: "rejection", as: "401.revoked" } } });
    const sandbox = startFrozen(
      { ...bundledScenarios["key-states"], faults: [{ when: { requests: [1, 2] }, then }] },
      { run },
    );
    return [1, 2, 3, 4].map(() => ask(sandbox, { key: "active" }).status);
  };
  expect(rejectedAt({ latency: "100ms" })).toEqual([200, 401, 200, 200]);
  expect(rejectedAt({ status: 503 })).toEqual([503, 503, 200, 401]);
});
