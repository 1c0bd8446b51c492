import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import shortForms from "../../scripts/short-forms.json" with { type: "json" };

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("CI runs each npm script, or its short form", () => {
  expect(Object.keys(shortForms).sort()).toEqual(
    Object.keys(JSON.parse(read("package.json")).scripts).sort(),
  );
  expect(read("scripts/test.ts")).toContain('["short-forms"]');
  expect(read(".ci/run")).toContain("npm run --silent test:all");
});
