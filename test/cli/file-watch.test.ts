import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readOnChange } from "../../src/cli/watch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it("reads again after each change, also one that comes while it reads, and of a file that is missing", async () => {
  const cwd = temporaryFolder({ "a.yaml": "first" });
  const [file, missing] = [join(cwd, "a.yaml"), join(cwd, "b.yaml")];
  const closing = new AbortController();
  const changes = [
    () => writeFileSync(file, "second one"),
    () => writeFileSync(missing, "now here"),
    () => rmSync(file),
    () => closing.abort(),
  ];
  await readOnChange(async (onFile) => {
    for (const one of [file, missing]) onFile(one);
    changes.shift()?.();
  }, closing.signal);
  expect(changes).toEqual([]);
});
