import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.js";
import { createWatch } from "./watch.js";

test("a file that is replaced by a rename, or with its folder, is reported once", async () => {
  const folder = temporaryFolder({ "deep/a.yaml": "first" });
  const file = join(folder, "deep/a.yaml");
  const seen: string[] = [];
  let notify = () => {};
  const watching = createWatch(async () => {
    seen.push(readFileSync(file, "utf8"));
    notify();
  });
  const nextChange = () => new Promise<void>((resolve) => (notify = resolve));
  await watching.follow([file], Number.POSITIVE_INFINITY);
  for (const text of ["second", "third"]) {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
    await nextChange();
  }
  rmSync(join(folder, "deep"), { recursive: true });
  mkdirSync(join(folder, "deep"));
  writeFileSync(file, "fourth");
  await nextChange();
  await watching.close();
  expect(seen).toEqual(["second", "third", "fourth"]);
});
