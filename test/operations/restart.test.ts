import { expect, test } from "vitest";
import { startInNode } from "../../src/node/platform.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import type { SandboxState, StartOptions } from "../../src/sandbox/sandbox-state.js";
import { prepareReplacement, replaceScenario, restartSandbox } from "../../src/sandbox/start-sandbox.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { type NamedScenario, resolveSource } from "../../src/scenario/scenario-source.js";

const startOptions = { seed: 7, frozen: true } as const;
const start = () => startInNode(resolveSource("rotation"), startOptions);

function startAnother(sandbox: SandboxState, another: NamedScenario, options?: StartOptions): void {
  replaceScenario(sandbox, prepareReplacement(sandbox, another, options));
}

const scenario: Scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  timeline: [{ at: "0s", revoke: { key: "main" } }],
};

test("another scenario starts with the sandbox's options unless a call has its own, and runs what is due", () => {
  const sandbox = start();
  const seen: string[] = [];
  sandbox.journal.subscribe(({ type }) => seen.push(type));
  startAnother(sandbox, { scenario, name: "other" }, {});
  expect(seen).toEqual(["sandbox.started", "key.revoked", "timeline.step"]);
  expect([sandbox.name, sandbox.seed, sandbox.clock.isFrozen()]).toEqual(["other", 7, true]);
  startAnother(sandbox, { scenario, name: "other" }, { seed: 8 });
  expect([sandbox.seed, sandbox.clock.isFrozen()]).toEqual([8, true]);
});

test("the same scenario starts as it did; one that cannot start leaves everything unchanged", () => {
  const sandbox = start();
  restartSandbox(sandbox, { seed: 9 });
  restartSandbox(sandbox);
  expect([sandbox.name, sandbox.seed]).toEqual(["rotation", 9]);
  const before = sandbox.journal.latestNumber();
  expect(() => startAnother(sandbox, { scenario, name: "other" }, { now: Number.NaN })).toThrow();
  expect([sandbox.name, sandbox.journal.latestNumber()]).toEqual(["rotation", before]);
});

test("steps that are due at a start wait for the first reader, who hears of them", () => {
  const sandbox = startInNode({ scenario, name: "other" }, startOptions);
  const seen: string[] = [];
  sandbox.journal.subscribe(({ type }) => seen.push(type));
  runDue(sandbox);
  expect(seen).toEqual(["key.revoked", "timeline.step"]);
});

test("a listener of a start may run what is due, which then runs once", () => {
  const sandbox = start();
  const steps: number[] = [];
  sandbox.journal.subscribe((event) => {
    if (event.type === "sandbox.started") runDue(sandbox);
    if (event.type === "timeline.step") steps.push(event.result.index);
  });
  startAnother(sandbox, { scenario, name: "other" });
  expect(steps).toEqual([0]);
});

test("an option that is undefined at the start of another scenario is that of the first start", () => {
  const sandbox = start();
  startAnother(sandbox, { scenario, name: "other" }, { seed: undefined });
  expect(sandbox.seed).toBe(7);
});

test("a start at a later time than that of the scenario runs the steps that are due by then", () => {
  const timeline = [{ at: "2026-03-01T00:00:00Z", revoke: { key: "main" } }];
  const parsed = { scenario: { ...scenario, timeline } as Scenario, name: "other" };
  const sandbox = startInNode(parsed, { now: "2026-04-01T00:00:00Z" });
  runDue(sandbox);
  expect(sandbox.timeline.next).toBe(1);
});
