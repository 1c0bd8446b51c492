import { expect, onTestFinished, test, vi } from "vitest";
import { handle } from "../../src/api/handle.js";
import { openWorld } from "../../src/node/platform.js";
import { saveOnChange } from "../../src/node/state/open-state.js";
import { revokeKey } from "../../src/sandbox/operations/keys.js";
import { createRuntime } from "../../src/sandbox/runtime.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";

const times = (spy: ReturnType<typeof vi.fn>) => spy.mock.calls.length;
const full = () => {
  throw new Error("disk full");
};

function saving(longest = 20) {
  const runtime = createRuntime(() => openWorld(bundledScenarios["key-states"]));
  const save = vi.fn();
  const problem = vi.fn();
  const stop = saveOnChange(runtime, save, problem, longest);
  onTestFinished(() => void stop());
  const revoke = () => revokeKey(runtime.world(), { key: "active" });
  const request = () => handle(runtime.world(), { method: "GET", path: "/nothing", apiKey: undefined });
  return { runtime, save, problem, stop, revoke, request };
}

test("an operation is saved before it is acknowledged", () => {
  const { runtime, save, revoke } = saving();
  revoke();
  expect(times(save)).toBe(1);
  runtime.reset();
  expect(times(save)).toBe(2);
});

test("many requests are saved together, once, and nothing is saved after that", async () => {
  const { save, request } = saving();
  for (let i = 0; i < 100; i++) request();
  expect(times(save)).toBe(0);
  await vi.waitFor(() => expect(times(save)).toBe(1));
  request();
  await vi.waitFor(() => expect(times(save)).toBe(2));
});

test("a save that fails is told once, and tried again until it works", async () => {
  const { save, problem, request } = saving(5);
  save.mockImplementation(full);
  request();
  await vi.waitFor(() => expect(times(save)).toBeGreaterThan(3));
  expect(times(problem)).toBe(1);
  save.mockReset();
  await vi.waitFor(() => expect(times(save)).toBe(1));
  save.mockImplementation(full);
  request();
  await vi.waitFor(() => expect(times(problem)).toBe(2));
});

test("an operation that cannot be saved fails, and is tried again later", async () => {
  const { save, problem, revoke } = saving();
  save.mockImplementationOnce(full);
  expect(revoke).toThrow("disk full");
  expect(times(problem)).toBe(0);
  await vi.waitFor(() => expect(times(save)).toBe(2));
});

test("to stop says whether something is unsaved, and nothing is saved later", () => {
  const { save, stop, revoke, request } = saving(60_000);
  request();
  expect([stop(), stop()]).toEqual([true, false]);
  revoke();
  expect(times(save)).toBe(0);
});

test("fake timers of a test suite do not keep a state from being saved", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { save, request } = saving(1);
  request();
  const { setImmediate: turn } = process.getBuiltinModule("node:timers");
  // Ends with the test's own time if it is never saved.
  while (times(save) === 0) await new Promise((resolve) => turn(resolve));
  expect(times(save)).toBe(1);
});
