import { expect, onTestFinished, test, vi } from "vitest";
import { handle } from "../../src/api/handle.js";
import { openWorld } from "../../src/node/platform.js";
import { saveOnChange } from "../../src/node/state/save-on-change.js";
import { revokeKey } from "../../src/sandbox/operations/rotate-key.js";
import { createRuntime } from "../../src/sandbox/runtime.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";

/** A host whose saves fail as long as they are told to. */
function saving(longest = 20) {
  const runtime = createRuntime(() => openWorld(bundledScenarios["key-states"]));
  const seen = { saves: 0, problems: 0, broken: false };
  const save = () => {
    seen.saves += 1;
    if (seen.broken) throw new Error("disk full");
  };
  const noteProblem = () => {
    seen.problems += 1;
  };
  const stop = saveOnChange(runtime, save, noteProblem, longest);
  onTestFinished(stop);
  const request = () => handle(runtime.world(), { method: "GET", path: "/nothing", apiKey: undefined });
  return { runtime, seen, stop, request };
}

test("what somebody does is saved before they hear of it", () => {
  const { runtime, seen } = saving();
  revokeKey(runtime.world(), { key: "active" });
  expect(seen.saves).toBe(1);
  runtime.reset();
  expect(seen.saves).toBe(2);
});

test("many requests are saved together, once, and nothing is saved after that", async () => {
  const { seen, request } = saving();
  for (let i = 0; i < 100; i++) request();
  expect(seen.saves).toBe(0);
  await vi.waitFor(() => expect(seen.saves).toBe(1));
  request();
  await vi.waitFor(() => expect(seen.saves).toBe(2));
});

test("a save that fails is told once, and tried again until it works", async () => {
  const { seen, request } = saving(5);
  seen.broken = true;
  request();
  await vi.waitFor(() => expect(seen.saves).toBeGreaterThan(3));
  expect(seen.problems).toBe(1);
  seen.broken = false;
  const before = seen.saves;
  await vi.waitFor(() => expect(seen.saves).toBeGreaterThan(before));
  seen.broken = true;
  request();
  await vi.waitFor(() => expect(seen.problems).toBe(2));
});

test("what fails to be saved fails for whoever did it, and is tried again later", async () => {
  const { runtime, seen } = saving();
  seen.broken = true;
  expect(() => revokeKey(runtime.world(), { key: "active" })).toThrow("disk full");
  expect(seen.problems).toBe(0);
  seen.broken = false;
  await vi.waitFor(() => expect(seen.saves).toBe(2));
});

test("to stop saves what is unsaved, and nothing later", () => {
  const { runtime, seen, stop, request } = saving(60_000);
  request();
  stop();
  expect(seen.saves).toBe(1);
  stop();
  revokeKey(runtime.world(), { key: "active" });
  expect(seen.saves).toBe(1);
});

test("fake timers of a test suite do not keep a state from being saved", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { seen, request } = saving(1);
  request();
  const real = process.hrtime.bigint();
  while (seen.saves === 0 && process.hrtime.bigint() - real < 5_000_000_000n) {
    await new Promise((resolve) => process.getBuiltinModule("node:timers").setImmediate(resolve));
  }
  expect(seen.saves).toBe(1);
});
