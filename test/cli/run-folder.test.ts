import {
  chmodSync,
  chownSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openRunFolder } from "../../src/cli/serve/run-folder.js";
import { loadScenario } from "../../src/node/files/load-scenario.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function open() {
  const folder = await openRunFolder({ scenario: await loadScenario("active"), options: {} });
  onTestFinished(folder.remove);
  return folder;
}

/** Makes another folder the one of temporary files, with the folder of this user's runs. */
function temporaryFiles() {
  const all = temporaryFolder({ "others/run.json": "{}" });
  vi.stubEnv("TMPDIR", all);
  onTestFinished(() => void vi.unstubAllEnvs());
  const runs = join(all, `svc-sandbox-${process.getuid?.() ?? "runs"}`);
  mkdirSync(runs, { mode: 0o700 });
  return { all, runs };
}

const agoInSeconds = (days: number) => Date.now() / 1000 - days * 86_400;

test("folders of killed runs are removed after a day; those of running ones, of others and links stay", async () => {
  const { all, runs: folder } = temporaryFiles();
  const running = await open();
  utimesSync(running.path, 0, 0);
  const young = join(folder, "svc-sandbox-run-young");
  mkdirSync(young);
  utimesSync(young, 0, agoInSeconds(0.9));
  const left = join(folder, "svc-sandbox-run-left");
  mkdirSync(left);
  utimesSync(left, 0, agoInSeconds(1.1));
  const link = join(folder, "svc-sandbox-run-link");
  symlinkSync(join(all, "others"), link);
  lutimesSync(link, 0, 0);
  const another = join(folder, "svc-sandbox-run-another");
  mkdirSync(another);
  utimesSync(another, 0, 0);
  const user = process.getuid?.();
  // Only an administrator can have a file of another user.
  if (user === 0) chownSync(another, 65_534, 65_534);
  const { path } = await open();
  const kept = [running.path, young, link, path, ...(user === 0 ? [another] : [])];
  expect(readdirSync(folder).sort()).toEqual(kept.map((one) => one.slice(folder.length + 1)).sort());
  expect(existsSync(join(all, "others/run.json"))).toBe(true);
});

test("runs have a folder of their user, unless others may use it too", async () => {
  const { all, runs } = temporaryFiles();
  expect(dirname((await open()).path)).toBe(runs);
  // Only there, old folders are looked for.
  const left = join(all, "svc-sandbox-run-left");
  mkdirSync(left);
  utimesSync(left, 0, 0);
  await open();
  expect(existsSync(left)).toBe(true);
  chmodSync(runs, 0o770);
  expect(dirname((await open()).path)).toBe(all);
});
