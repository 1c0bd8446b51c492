import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const requestsEach = 2_500;

test("thousands of requests that meet each fault leave nothing behind", { timeout: 240_000 }, async () => {
  const script = join(import.meta.dirname, "../support/fault-memory.ts");
  const flags = ["--expose-gc", "--import", "tsx", script, String(requestsEach), "1000", "100"];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 230_000 });
  const { grown, ended, timers, today, total, requests } = JSON.parse(stdout);
  process.stdout.write(`bytes for each request: ${JSON.stringify(grown)}\n`);
  expect(Object.keys(grown)).toHaveLength(14);
  // One request, its socket and its answer take some kilobytes. What is less than this is the noise of the heap.
  for (const [name, bytes] of Object.entries(grown)) expect(bytes, name).toBeLessThan(500);
  expect(ended).toBe(true);
  expect(timers).toBe(0);
  expect(total).toBe(requests);
  // Only what came late or slowly, and whole, has counted: two faults of seven.
  expect(today).toBe((requests / 7) * 2);
});
