import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import type { SandboxState } from "./sandbox-state.js";
import { viewKeys } from "./views.js";

test("a page of keys has those from its offset, and reads none after its last", () => {
  const sandbox = startFrozen("key-states");
  const entries = [...sandbox.registry.keys.values()];
  let read = 0;
  const values = function* () {
    for (const entry of entries) {
      read += 1;
      yield entry;
    }
  };
  const watched = { ...sandbox, registry: { keys: { values } } } as unknown as SandboxState;
  const refs = entries.map(({ key }) => key.ref);
  const page = (offset: number, limit: number) => viewKeys(watched, { offset, limit }).map(({ ref }) => ref);
  expect(page(2, 3)).toEqual(refs.slice(2, 5));
  expect(read).toBeLessThanOrEqual(6);
  expect(page(refs.length - 1, 5)).toEqual(refs.slice(-1));
  expect(page(refs.length, 5)).toEqual([]);
  expect(page(0, 0)).toEqual([]);
});
