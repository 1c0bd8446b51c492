import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isNightly } from "../support/property-seed.js";

test("requests that get each fault leave nothing in memory", async () => {
  const script = join(import.meta.dirname, "fault-memory.ts");
  const [requestsEach, warmUp] = isNightly ? [700, 600] : [0, 40];
  const flags = ["--expose-gc", "--import", "tsx", script, String(requestsEach), String(warmUp), "100"];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const { grown, arrived, each, ended, timers, today } = JSON.parse(stdout);
  expect(Object.keys(grown)).toHaveLength(14);
  // One request, its socket and its response take some kilobytes. What is less than this is the noise of the heap.
  if (isNightly) for (const [name, bytes] of Object.entries(grown)) expect(bytes, name).toBeLessThan(500);
  expect(ended).toBe(true);
  expect(timers).toBe(0);
  expect(Object.values(arrived)).toEqual(new Array(14).fill(each));
  // Only what came late or slowly, and whole, has counted: two faults of seven, on sockets and in process.
  expect(today).toBe(each * 4);
});
