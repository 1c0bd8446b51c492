import { expect, test } from "vitest";
import { createSandbox, type Fault, type Sandbox } from "../../src/index.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import { continued, snapshot } from "../support/continued.js";
import { mePath } from "../support/doors.js";
import { sandboxWith, scenarioWith, unavailable } from "../support/faulty.js";

const repeating: Fault[] = [
  { when: { key: "main", every: 3 }, then: { reset: true } },
  { when: { requests: [2, 5] }, then: unavailable },
  { when: { after: "10m", until: "1h" }, then: { latency: "1ms" } },
  { when: { probability: 0.3 }, then: { malformed: true } },
];

/** The fault that each of so many requests meets. */
async function trace(sandbox: Sandbox, times: number): Promise<unknown[]> {
  const headers = { "x-api-key": sandbox.secret("main") };
  for (let i = 0; i < times; i++) {
    await sandbox.fetch(`https://any.example${mePath}`, { headers }).catch(() => {});
  }
  return sandbox.requests.list({ limit: times }).map(({ fault }) => fault);
}

test("a saved sandbox continues counting, and keeps after and until at their instants", async () => {
  const sandbox = createSandbox({ scenario: scenarioWith(repeating) });
  await trace(sandbox, 4);
  sandbox.clock.advance("9m");
  const again = continued(sandbox);
  expect(again.faults.list()).toEqual(sandbox.faults.list());
  expect(again.faults.list()[2]?.when).toEqual({
    after: "2026-03-02T09:10:00.000Z",
    until: "2026-03-02T10:00:00.000Z",
  });
  expect(snapshot(again)).toEqual(snapshot(sandbox));
  for (const one of [sandbox, again]) one.clock.advance("1m");
  expect(await trace(again, 12)).toEqual(await trace(sandbox, 12));
});

test("a saved sandbox has the faults that were set in the place of the scenario's", () => {
  const sandbox = createSandbox({ scenario: scenarioWith(repeating) });
  const written = [{ when: { until: "1d" }, then: unavailable }];
  for (const faults of [[], written]) {
    sandbox.faults.set(faults);
    expect(continued(sandbox).faults.list()).toEqual(sandbox.faults.list());
  }
});

test("reset goes back to the scenario's faults, and to their first request", async () => {
  const sandbox = createSandbox({ scenario: scenarioWith(repeating) });
  const first = await trace(sandbox, 9);
  sandbox.faults.set([{ then: { reset: true } }]);
  sandbox.reset();
  expect(await trace(sandbox, 9)).toEqual(first);
});

test("changing the result of list or the argument of set afterwards has no effect", () => {
  const given: Fault[] = [{ when: { requests: [1] }, then: { latency: { min: "1ms", max: "2ms" } } }];
  const sandbox = createSandbox({ scenario: scenarioWith([]) });
  const responded = sandbox.faults.set(given);
  const before = sandbox.faults.list();
  given[0]?.when?.requests?.push(2);
  responded[0]?.when?.requests?.push(3);
  given.pop();
  expect(sandbox.faults.list()).toEqual(before);
});

test("faults can be set for keys that were made at run time, and are saved with them", () => {
  const sandbox = createSandbox({ scenario: scenarioWith([]) });
  sandbox.keys.create({ organization: "bank", environment: "test", name: "Late", ref: "late" });
  const faults = sandbox.faults.set([{ when: { key: "late" }, then: { hang: true } }]);
  expect(continued(sandbox).faults.list()).toEqual(faults);
});

test("R46 what is rejected changes nothing, and a key in the place of a ref is not shown", () => {
  const sandbox = createSandbox({ scenario: scenarioWith(repeating) });
  const before = snapshot(sandbox);
  const secret = sandbox.secret("main");
  for (const [fault, field] of [
    [{ when: { key: secret }, then: { hang: true } }, "faults[0].when.key"],
    [{ then: { reset: true, status: 503 } }, "faults[0].then.status"],
  ] as const) {
    const set = () => sandbox.faults.set([fault]);
    const details = expect.objectContaining({ fields: { [field]: expect.any(String) } });
    expect(set).toThrow(expect.objectContaining({ code: "validation_failed", details }));
    expect(set).not.toThrow(secret.slice(20));
  }
  expect(snapshot(sandbox)).toEqual(before);
});

test("a change of the faults sends an event, a rejected change does not", () => {
  const sandbox = sandboxWith();
  const heard: string[] = [];
  sandbox.journal.subscribe(({ type }) => heard.push(type));
  operations.faults(sandbox, [{ then: { hang: true } }]);
  expect(() => operations.faults(sandbox, [{ then: { hang: true, reset: true } }])).toThrow();
  expect(heard).toEqual(["faults.changed"]);
});
