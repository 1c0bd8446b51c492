import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nameTables } from "../../scripts/generate.js";

test("the name tables match this faker; if not, run `npm run generate`", async () => {
  for (const [path, text] of Object.entries(await nameTables())) {
    const file = await readFile(join(import.meta.dirname, "../..", path), "utf8");
    expect(file === text, `${path} is stale`).toBe(true);
  }
});
