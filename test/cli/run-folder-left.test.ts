import { readdirSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { atEnd } from "../../src/cli/run-command.js";
import { openRunFolder } from "../../src/cli/run-folder.js";
import { loadScenario } from "../../src/server/start-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, execHere } from "./exec-client.js";

/** The codes of failures, the next one first, of removing folders of runs. */
const failures = vi.hoisted((): string[] => []);
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const rmSync: typeof fs.rmSync = (path, options) => {
    const code = String(path).includes("svc-sandbox-run-") ? failures.shift() : undefined;
    if (code !== undefined) throw Object.assign(new Error(), { code });
    fs.rmSync(path, options);
  };
  return { ...fs, rmSync };
});

/** Makes another folder the one of temporary files, without folders of runs. */
function temporaryFiles(): string {
  const all = temporaryFolder();
  vi.stubEnv("TMPDIR", all);
  onTestFinished(() => {
    failures.length = 0;
    // What the test could not remove no longer waits for the end of the process.
    for (const step of atEnd) step();
    vi.unstubAllEnvs();
  });
  return all;
}

const runsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("-run-"));

test("a folder of a run that cannot be removed is a note below the report, and the command's code stays", async () => {
  const all = temporaryFiles();
  failures.push(...Array(9).fill("EACCES"));
  const { code, stderr } = await execHere(["--", ...client("active", "exit:7")]);
  expect([code, runsIn(all).length]).toEqual([7, expect.any(Number)]);
  expect(stderr).toMatch(/^\n1 request to key-states/);
  expect(stderr).toMatch(
    /\nThe folder of the run, ".*-run-\w+", could not be removed: EACCES\. Remove it yourself\.\n$/,
  );
});

test("what could not be removed is tried again when the process ends", async () => {
  const all = temporaryFiles();
  const folder = await openRunFolder({ scenario: await loadScenario("active"), options: {}, conditions: {} });
  failures.push("EBUSY");
  folder.remove();
  expect([folder.whyNotRemoved, runsIn(all).length]).toEqual([expect.any(String), 2]);
  for (const step of atEnd) step();
  expect([runsIn(all), atEnd.size]).toEqual([[], 0]);
});
