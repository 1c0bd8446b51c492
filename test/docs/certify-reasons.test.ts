import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, sectionOf } from "../support/pages.js";

// The page has a row for each reason why something is not judged. The reasons are written in the functions that find them, so their words
// are collected from the source: what follows `why` or `ending`. A `…` is a part that differs.

const folder = join(root, "src/certify");
const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(folder, file), "utf8"))
  .join("\n");

/** The reasons that the source has in words. One that only passes on another, or ends on one, has none of its own. */
function reasonsIn(text: string): string[] {
  const literals = text.matchAll(
    /\b(?:why\w*\(|(?:why|ending)(?::| =))\s*(?:"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g,
  );
  return [...literals]
    .map(([, plain, template = ""]) =>
      (plain ?? template).replace(/\$\{[^}]*\}/g, "…").replaceAll("\\`", "`"),
    )
    .filter((reason) => /\w/.test(reason) && !reason.endsWith(", …"));
}

/** What reasons have after `why` that is neither in words nor a type or shape, nor the words of another reason. */
const passedOn = (text: string) =>
  [...text.matchAll(/\bwhy: (?!string|s\.)(\w[\w.]*)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.endsWith(".why"));

/** The words of the first cells, several in one cell apart. */
const rows = [...sectionOf("docs/certify.md", "Not judged").matchAll(/^\| (.+) \| (.+) \|$/gm)]
  .slice(1)
  .map(([, reasons = "", whatToDo = ""]) => ({ reasons: reasons.split("; "), whatToDo }));

/** Whether the parts of a cell's words are in the reason, in their order. */
function isAbout(words: string, reason: string): boolean {
  let from = 0;
  for (const part of words.split("…").map((one) => one.trim())) {
    const at = reason.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return true;
}

/** The reasons that no row is about. */
const withoutRow = (reasons: readonly string[]) =>
  reasons.filter((reason) => !rows.some((row) => row.reasons.some((words) => isAbout(words, reason))));

test("docs/certify.md has a row with what to do for each reason why something is not judged", () => {
  const reasons = reasonsIn(source);
  expect(reasons.length).toBeGreaterThan(35);
  expect(withoutRow(reasons)).toEqual([]);
  expect(passedOn(source)).toEqual([]);

  const added = reasonsIn('const moon: Reason = {\n  why: "the moon is full",\n  whatToDo: "Wait.",\n};');
  expect(withoutRow(added)).toEqual(["the moon is full"]);
});

test("each row of the reasons is about one that the program gives", () => {
  const reasons = reasonsIn(source);
  const named = rows.flatMap((row) => row.reasons);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((words) => !reasons.some((reason) => isAbout(words, reason)))).toEqual([]);
  expect(rows.filter(({ whatToDo }) => !/\w/.test(whatToDo))).toEqual([]);
});
