import { expect, test } from "vitest";
import { createRoom } from "../../src/redis/room.js";

/** A room of a Redis that is full, and what it did. */
function fullRoom() {
  const clock = { now: 0 };
  const done: string[] = [];
  const add = (line: string) => void done.push(line.replace(/ .*/, ""));
  const compact = async (journal: number, which: string) => void done.push(`${which} ${journal}`);
  const room = createRoom({ warn: add, note: add }, compact, () => clock.now);
  const reject = (message = "OOM command not allowed") => room.onRejected(new Error(message));
  return { clock, done, room, reject };
}

test("a full Redis gets room from shorter journals before an entry is rejected", async () => {
  const { done, room, reject } = fullRoom();
  expect([await reject(), await reject(), await reject(), await reject()]).toEqual([true, true, true, false]);
  expect(done).toEqual(["loaded 100", "all 20", "all 0", "rejects"]);
  expect(room.rejection()).toMatchObject({ isFull: true });
});

test("entries that are rejected at the same time wait for the same attempt", async () => {
  const { done, reject } = fullRoom();
  expect(await Promise.all([reject(), reject(), reject()])).toEqual([true, true, true]);
  expect(done).toEqual(["loaded 100"]);
});

test("attempts are repeated after a second, and start again once Redis accepts entries", async () => {
  const { clock, done, room, reject } = fullRoom();
  for (let n = 0; n < 4; n += 1) await reject();
  clock.now = 1000;
  expect([await reject(), await reject()]).toEqual([false, false]);
  clock.now = 1001;
  expect([await reject(), await reject()]).toEqual([false, true]);
  room.onStored();
  expect(room.rejection()).toBeUndefined();
  await reject();
  expect(done.slice(4)).toEqual(["all 20", "accepts", "loaded 100"]);
});

test("another rejection than that of a full Redis makes no room", async () => {
  const { done, room, reject } = fullRoom();
  expect(await reject("MISCONF Redis is configured to save RDB snapshots")).toBe(false);
  expect(done).toEqual(["rejects"]);
  expect(room.rejection()).toMatchObject({ isFull: false });
});
