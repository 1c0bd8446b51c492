import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

const rules = [...readFileSync(join(root, "docs/specification.md"), "utf8").matchAll(/^\| (R\d+) \|/gm)].map(
  ([, rule = ""]) => rule,
);

/** All text of all test titles: the first argument of `test(…)`, and the rows of `test.each`, which fill titles in. */
function testTitles(): string {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
      join(root, folder, file),
    ),
  );
  return files
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [
      ...readFileSync(file, "utf8").matchAll(
        /(?:\btest\(\s*|\)\(\s*|^\s*\[)(["'`])((?:(?!\1).)*R\d(?:(?!\1).)*)\1/gm,
      ),
    ])
    .map((match) => match[2])
    .join("\n");
}

test("the list of rules is whole", () => {
  expect(rules.length).toBeGreaterThan(48);
  expect(rules).toEqual(rules.map((_, index) => `R${index + 1}`));
});

test("every rule has a test that names it, not only a range of rules", () => {
  const named = new Set(testTitles().match(/(?<!–)\bR\d+\b(?!–)/g));
  expect(rules.filter((rule) => !named.has(rule))).toEqual([]);
});
