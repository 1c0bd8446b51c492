import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("a measurement whose program is missing is left out, and the bench prints its table", async () => {
  const argv = ["--import", "tsx", "bench/run.ts", "dashboard", "replicas"];
  const none = join(root, "no-such-program");
  const env = { ...process.env, CI: "", CHROMIUM_PATH: none, REDIS_SERVER_PATH: none };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { cwd: root, env });
  expect(stdout).toMatch(/median +spread +target/);
  expect(stderr).toMatch(
    /leaving out dashboard: chromium is missing.*\nleaving out replicas: redis-server is missing/,
  );
});
