import { expect, onTestFinished, test, vi } from "vitest";
import { createSaver } from "../../src/node/files/saver.js";

const times = (spy: ReturnType<typeof vi.fn>) => spy.mock.calls.length;
const full = () => {
  throw new Error("disk full");
};

function saving() {
  const save = vi.fn();
  const problem = vi.fn();
  const saver = createSaver(save, problem);
  onTestFinished(() => void saver.stop());
  return { ...saver, save, problem };
}

test("what is saved soon is saved together, once, and nothing is saved after that", async () => {
  const { save, soon, isDue } = saving();
  for (let i = 0; i < 100; i++) soon();
  expect([times(save), isDue()]).toEqual([0, true]);
  await expect.poll(() => times(save)).toBe(1);
  expect(isDue()).toBe(false);
  soon();
  await expect.poll(() => times(save)).toBe(2);
});

test("saving takes a small part of the time: the next save waits fifty times as long as the last one took", () => {
  let now = 1000;
  const delays: number[] = [];
  const save = () => {
    now += 50;
  };
  const saver = createSaver(save, () => {}, {
    stopwatch: () => now,
    setTimeout: ((_save: () => void, ms: number) => {
      delays.push(ms);
      return { unref: () => ({}) };
    }) as unknown as typeof setTimeout,
    clearTimeout: () => {},
  });
  saver.soon();
  saver.now();
  saver.soon();
  saver.now();
  now += 2450;
  saver.soon();
  expect(delays).toEqual([100, 2500, 100]);
});

test("a save that fails is reported once, and tried again until it works", async () => {
  const { save, problem, soon } = saving();
  save.mockImplementation(full);
  soon();
  await expect.poll(() => times(save)).toBeGreaterThan(3);
  expect(times(problem)).toBe(1);
  save.mockReset();
  await expect.poll(() => times(save)).toBe(1);
  save.mockImplementation(full);
  soon();
  await expect.poll(() => times(problem)).toBe(2);
});

test("fake timers of a test suite do not keep a state from being saved", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { save, soon } = saving();
  soon();
  const { setImmediate: turn } = process.getBuiltinModule("node:timers");
  // Ends with the test's own time if it is never saved.
  while (times(save) === 0) await new Promise((resolve) => turn(resolve));
  expect(times(save)).toBe(1);
});
