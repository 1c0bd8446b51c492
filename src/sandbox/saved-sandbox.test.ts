import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import type { Platform } from "./platform.js";
import { restoreSandbox, type SavedSandbox, saveSandbox } from "./saved-sandbox.js";
import { snapshotSandbox } from "./snapshot.js";
import { checkedStart, startSandbox } from "./start-sandbox.js";

const saved = (sandbox: Parameters<typeof saveSandbox>[0]): SavedSandbox =>
  JSON.parse([...saveSandbox(sandbox)].join(""));

/** A sandbox whose clock runs by a time that each reading of a clock, or each hash, moves by a second. */
function startSlow(): { platform: Platform; sandbox: ReturnType<typeof startSandbox> } {
  const { platform: fast, scenario } = startFrozen("rotation");
  let time = Date.parse("2026-03-02T09:00:00Z");
  const read = () => {
    time += 1000;
    return time;
  };
  const slow = (text: string) => {
    read();
    return fast.sha256(text);
  };
  const platform: Platform = { ...fast, time: read, steadyTime: read, sha256: slow };
  const source = { name: "rotation", text: undefined, scenario: structuredClone(scenario) };
  const sandbox = startSandbox(checkedStart(source, { frozen: false }, { platform }));
  return { platform, sandbox };
}

test("a clock that runs advances by the time since the sandbox was saved, once, however long the restart takes", () => {
  const { platform, sandbox } = startSlow();
  const before = platform.time() - sandbox.clock.now();
  const state = saved(sandbox);
  const restored = restoreSandbox(state, checkedStart(state, {}, { platform }));
  const after = platform.time() - restored.clock.now();
  // The wall clock and the clock of the sandbox are not read at the same time: each reading takes a second.
  expect(Math.abs(after - before)).toBeLessThanOrEqual(3000);
});

test("a snapshot has its clock and its keys as of one instant", () => {
  const { sandbox } = startSlow();
  const [entry] = sandbox.registry.keys.values();
  if (entry === undefined) expect.unreachable();
  // Between the first reading of the clock from now on, and the second one.
  const expiresAt = sandbox.clock.now() + 1500;
  sandbox.registry.change(entry, { expiresAt });

  const { clock, organizations } = snapshotSandbox(sandbox);
  const key = organizations?.[entry.key.organization]?.keys?.[entry.key.ref];
  const isOverByClock = Date.parse(String(clock?.now)) >= expiresAt;
  expect(key?.state === "expired").toBe(isOverByClock);
});

test("a restored sandbox knows when its scenario started", () => {
  const { platform, sandbox } = startSlow();
  const state = saved(sandbox);
  const restored = restoreSandbox(state, checkedStart(state, {}, { platform }));
  expect(restored.startedAt).toBe(sandbox.startedAt);
});
