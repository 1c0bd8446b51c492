import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { certifySuite } from "../certify/generated/certify-suite.js";
import { goodSuite, type KeyRef, keys } from "../certify/generated/suite.js";
import { pageOf, root, sectionOf } from "../support/pages.js";

// The page has a row for each reason why something is not judged. The reasons are written in the functions that find them, so their words
// are collected from the source: what follows `why` or `notJudged(`. A `…` is a part that differs. A sentence of the page begins with a capital letter.

const folder = join(root, "src/certify");
const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(folder, file), "utf8"))
  .join("\n");

/** The reasons that the source has in words. One that only passes on another, or ends on one, has none of its own. */
function reasonsIn(text: string): string[] {
  const literals = text.matchAll(/\b(?:why(?::| =)|notJudged\()\s*(?:"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g);
  return [...literals]
    .map(([, plain, template = ""]) =>
      (plain ?? template).replace(/\$\{[^}]*\}/g, "…").replaceAll("\\`", "`"),
    )
    .filter((reason) => /\w/.test(reason) && !/show nothing: …$/.test(reason));
}

/** What reasons have after `why` that is neither in words nor a type or shape, nor the words of another reason. */
const passedOn = (text: string) =>
  [...text.matchAll(/\b(?:why: (?!string|s\.)|notJudged\((?!why[:,]))(\w[\w.]*)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.endsWith(".why"));

/** The rows of the tables: what to do, and the words of the reasons for which it helps, each in italics. */
const rows = [...sectionOf("docs/certify.md", "Not judged").matchAll(/^\| (.+) \| (.+) \|$/gm)]
  .filter(([, whatToDo]) => whatToDo !== "what to do")
  .map(([, whatToDo = "", reasons = ""]) => ({
    whatToDo,
    reasons: [...reasons.matchAll(/\*([^*]+)\*/g)].map(([, words = ""]) => words),
  }));

/** Whether the parts of a cell's words are in the reason, in their order. */
function isAbout(words: string, reason: string): boolean {
  let from = 0;
  for (const part of words.split("…").map((one) => one.trim())) {
    const at = reason.toLowerCase().indexOf(part.toLowerCase(), from);
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
  expect(reasons.length).toBeGreaterThan(20);
  expect(withoutRow(reasons)).toEqual([]);
  expect(passedOn(source)).toEqual([]);

  const added = reasonsIn('return notJudged(\n  "the moon is full",\n  "Wait.",\n);');
  expect(withoutRow(added)).toEqual(["the moon is full"]);
});

test("each row of the reasons is about one that the program gives", () => {
  const reasons = reasonsIn(source);
  const named = rows.flatMap((row) => row.reasons);
  expect(named.length).toBeGreaterThan(14);
  expect(named.filter((words) => !reasons.some((reason) => isAbout(words, reason)))).toEqual([]);
  // What to do is a sentence.
  expect(rows.filter(({ whatToDo }) => !/^[A-Z].* .*\.$/.test(whatToDo))).toEqual([]);
});

test("no correct client takes more runs than the pages say, also with all outcomes", async () => {
  const runsOf = async (...refs: readonly KeyRef[]) => {
    const tests = refs.map((key) => ({ key, times: 1, isParallel: false }));
    return (await certifySuite({ ...goodSuite, tests }, { label: "pages" })).runs;
  };
  const few = await runsOf("active", "live", "revoked", "expired", "wrong-scope", "rate-limited");
  const all = await runsOf(...(Object.keys(keys) as KeyRef[]));
  expect(few).toBeLessThanOrEqual(27);
  expect(all).toBeLessThanOrEqual(40);
  for (const page of ["README.md", "docs/certify.md"]) {
    expect(pageOf(page).match(/up to \d+ times/g)).toEqual(["up to 40 times"]);
  }
});
