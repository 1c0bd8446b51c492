import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

const rules = [...readFileSync(join(root, "docs/rules.md"), "utf8").matchAll(/^\| (R\d+) \|/gm)].map(
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
        /(?:\btest\(\s*|\]\)\(\s*|^\s*\[)(["'`])((?:(?!\1).)*R\d(?:(?!\1).)*)\1/gm,
      ),
    ])
    .map((match) => match[2])
    .join("\n");
}

// "R18–R26" and "R37-R43" name every rule between the two.
function rulesNamed(text: string): Set<string> {
  const named = new Set<string>();
  for (const [, from, to = from] of text.matchAll(/\bR(\d+)(?:[–-]R(\d+))?\b/g)) {
    for (let i = Number(from); i <= Number(to); i++) named.add(`R${i}`);
  }
  return named;
}

test("the list of rules is whole", () => {
  expect(rules).toEqual(Array.from({ length: 49 }, (_, index) => `R${index + 1}`));
});

test("every rule has a test that names it", () => {
  const named = rulesNamed(testTitles());
  expect(rules.filter((rule) => !named.has(rule))).toEqual([]);
});
