import { expect, test } from "vitest";
import { startInNode } from "../../src/node/platform.js";
import { restartSandbox } from "../../src/sandbox/start-sandbox.js";
import { resolveSource } from "../../src/scenario/parse-scenario.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";

const startOptions = { seed: 7, frozen: true } as const;
const start = () => startInNode(resolveSource("rotation"), startOptions);

const scenario: Scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  timeline: [{ at: "0s", revoke: { key: "main" } }],
};

test("another scenario starts with the sandbox's options unless a call has its own, and runs what is due", () => {
  const sandbox = start();
  const seen: string[] = [];
  sandbox.journal.subscribe(({ type }) => seen.push(type));
  restartSandbox(sandbox, {}, { scenario, name: "other" }, () => seen.push("ready"));
  expect(seen).toEqual(["ready", "sandbox.started", "key.revoked", "timeline.step"]);
  expect([sandbox.name, sandbox.seed, sandbox.clock.isFrozen()]).toEqual(["other", 7, true]);
  restartSandbox(sandbox, { seed: 8 }, { scenario, name: "other" });
  expect([sandbox.seed, sandbox.clock.isFrozen()]).toEqual([8, true]);
});

test("the same scenario starts as it did; one that cannot start leaves everything unchanged", () => {
  const sandbox = start();
  restartSandbox(sandbox, { seed: 9 });
  restartSandbox(sandbox);
  expect([sandbox.name, sandbox.seed]).toEqual(["rotation", 9]);
  const before = sandbox.journal.latest();
  const isReady = () => expect.unreachable();
  expect(() => restartSandbox(sandbox, { now: Number.NaN }, { scenario, name: "other" }, isReady)).toThrow();
  expect([sandbox.name, sandbox.journal.latest()]).toEqual(["rotation", before]);
});
