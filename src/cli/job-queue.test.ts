import { expect, test } from "vitest";
import { JobQueue } from "./job-queue.js";

/** Starts jobs in a queue, and notes which have begun. */
function queueOf(limit: number) {
  const queue = new JobQueue(limit);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, isAlone = false) =>
    queue.run(() => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    }, isAlone);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { queue, begun, start, end, settled };
}

test("as many jobs run in parallel as the limit allows, in their order", async () => {
  const { begun, start, end, settled } = queueOf(2);
  const jobs = ["a", "b", "c", "d"].map((name) => start(name));
  await settled();
  expect(begun).toEqual(["a", "b"]);
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) await end(name);
  expect((await Promise.all(jobs)).map(({ result }) => result)).toEqual(["a", "b", "c", "d"]);
});

test("each job that was under way with another one is shared, also the one that began first", async () => {
  const { start, end, settled } = queueOf(2);
  const [first, second, third] = ["a", "b", "c"].map((name) => start(name));
  await settled();
  await end("a");
  await end("b");
  await end("c");
  expect([await first, await second, await third].map((job) => job?.isShared)).toEqual([true, true, true]);

  const alone = start("d");
  await settled();
  await end("d");
  expect((await alone).isShared).toBe(false);
});

test("a job that must be alone begins after all others, and no other begins before its end", async () => {
  const { begun, start, end, settled } = queueOf(3);
  const [, alone] = [start("a"), start("b", true), start("c")];
  await settled();
  expect(begun).toEqual(["a"]);
  await end("a");
  expect(begun).toEqual(["a", "b"]);
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  expect((await alone)?.isShared).toBe(false);
  await end("c");
});

test("after a separation, jobs run one at a time", async () => {
  const { queue, begun, start, end, settled } = queueOf(3);
  queue.runOneAtATime();
  const jobs = [start("a"), start("b")];
  await settled();
  expect(begun).toEqual(["a"]);
  await end("a");
  await end("b");
  expect((await Promise.all(jobs)).map(({ isShared }) => isShared)).toEqual([false, false]);
});

test("after a job has failed, no other one starts", async () => {
  const { queue, begun, start, settled } = queueOf(1);
  const failure = new Error("the disk is full");
  const failed = queue.run(async () => {
    throw failure;
  }, false);
  void start("waiting");
  await expect(failed).rejects.toBe(failure);
  void start("later");
  await settled();
  expect(begun).toEqual([]);
});
