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
  expect(await Promise.all(jobs)).toEqual(["a", "b", "c", "d"]);
});

test("a job that must be alone begins after all others, and no other begins before its end", async () => {
  const { begun, start, end, settled } = queueOf(3);
  void [start("a"), start("b", true), start("c")];
  await settled();
  expect(begun).toEqual(["a"]);
  await end("a");
  expect(begun).toEqual(["a", "b"]);
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  await end("c");
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
