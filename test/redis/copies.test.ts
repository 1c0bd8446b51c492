import { expect, test } from "vitest";
import { maskRequest } from "../../src/api/mask.js";
import { nodePlatform } from "../../src/node/platform.js";
import {
  applyEntry,
  type Entry,
  isCopyDue,
  openCopy,
  readCopy,
  withShortJournal,
} from "../../src/redis/sandbox-copy.js";
import { startAt } from "../../src/redis/stored-sandbox.js";
import { settled } from "../../src/sandbox/operations/operations.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { resolveSource } from "../../src/scenario/parse-scenario.js";
import { runCall } from "../../src/server/control/routes/routes.js";
import { asked } from "../support/send.js";

const source = resolveSource({
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z" },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  timeline: [{ at: "10m", revoke: { key: "main" } }],
});
const due = 600_000;

/** A copy of a sandbox that started at 1,000 on the clock of its store. */
function copyOf(given: { frozen?: boolean } = {}) {
  const copy = openCopy(describeSandbox(startAt(1000, source, given)), { given }, runCall);
  const now = () => settled(copy.runtime).clock.now() - Date.parse("2026-03-02T09:00:00Z");
  const look = (at: number, own = {}) => applyEntry(copy, { kind: "look" }, `${at}-0`, 7, own);
  return { copy, now, look };
}
const request = (path = "/v1"): Entry => ({
  ...{ kind: "request", request: maskRequest(asked({ path }), nodePlatform.sha256) },
});

test("the time of a copy is that of its entries, and never before its start or an earlier read", () => {
  const { copy, now, look } = copyOf();
  const seen = [];
  for (const at of [999, 1000, 1500]) seen.push(look(at, { read: now }));
  expect(seen).toEqual([0, 0, 500]);
  expect([readCopy(copy, 1700, now), readCopy(copy, 1600, now), look(2000, { read: now })]).toEqual([
    700, 700, 1000,
  ]);
  expect(applyEntry(copy, { kind: "look" }, "2001-5", 3)).toBeUndefined();
  expect(copy.sizes).toEqual({ entries: 5, characters: 31 });
});

test("a read is due when a step of the timeline is, not with a frozen clock", () => {
  const { copy, look } = copyOf();
  expect([isCopyDue(copy, 1000 + due - 1), isCopyDue(copy, 1000 + due)]).toEqual([false, true]);
  look(1000 + due);
  expect([isCopyDue(copy, 1e12), copy.runtime.history.total()]).toEqual([false, 0]);
  expect(isCopyDue(copyOf({ frozen: true }).copy, 1e12)).toBe(false);
});

test("a compaction needs as many entries as it names, and starts to count again", () => {
  const { copy, look } = copyOf();
  const compact = (least: number) => applyEntry(copy, { kind: "compact", least, journal: 2 }, "3000-0", 10);
  for (let n = 0; n < 3; n += 1) applyEntry(copy, request(`/v1/${n}`), "2000-0", 10);
  expect([compact(5), copy.sizes]).toEqual([undefined, { entries: 4, characters: 40 }]);
  const text = compact(5) as string;
  expect(JSON.parse(text).exchanges.map(({ path }: { path: string }) => path)).toEqual(["/v1/1", "/v1/2"]);
  expect([copy.sizes, copy.runtime.history.requests().length]).toEqual([{ entries: 0, characters: 0 }, 2]);
  const state = JSON.parse(text);
  expect([withShortJournal(state, 1).exchanges.length, withShortJournal(state, 0).exchanges]).toEqual([
    1,
    [],
  ]);
  look(4000);
  expect(copy.sizes.entries).toBe(1);
});
