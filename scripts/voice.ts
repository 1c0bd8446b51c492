import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Prose, proseOfPage, proseOfSource } from "./voice/prose.js";
import { voiceRules } from "./voice/rules.js";

// `npm run voice`: counts patterns of word-by-word English per 1,000 words. An area fails when it has more than its budget.
// `--update` lowers budgets, and never raises one. `npm run voice docs/exec.md` lists what is found in some files.

const root = fileURLToPath(new URL("..", import.meta.url));
const budgetFile = join(root, "scripts/voice/budget.json");

const filesIn = (folder: string, pattern: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));

const pages = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "AGENTS.md"],
  ...filesIn("docs", /\.md$/),
  ...filesIn("examples", /(?<!node_modules.*)\.md$/),
];
const sources = filesIn("src", /(?<!\.test|\.generated)\.tsx?$/);
const isDashboard = (file: string) => file.startsWith("src/dashboard/");

/** Each area: its files, and the kind of prose in them that counts. */
const areas: Readonly<Record<string, readonly [files: readonly string[], kind: Prose["kind"]]>> = {
  docs: [pages, "page"],
  messages: [sources.filter((file) => !isDashboard(file)), "message"],
  dashboard: [sources.filter(isDashboard), "message"],
  comments: [sources, "comment"],
};

function proseIn(file: string): Prose[] {
  const text = readFileSync(join(root, file), "utf8");
  return file.endsWith(".md") ? proseOfPage(text) : proseOfSource(text, file.endsWith("x"));
}

/** What the rules find in a piece of prose: the line, the words, and the words to use instead. */
function foundIn({ text, line }: Prose): [line: number, words: string, instead: string][] {
  return voiceRules.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: words, index }): [number, string, string] => {
      const before = text.slice(0, index + words.search(/\S/));
      return [line + before.split("\n").length - 1, words.trim().replace(/\s+/g, " "), instead];
    }),
  );
}

const countWords = (text: string) => text.match(/[A-Za-z][\w'’-]*/g)?.length ?? 0;

function rateOf([files, kind]: (typeof areas)[string]): number {
  const prose = files.flatMap(proseIn).filter((one) => one.kind === kind);
  const words = prose.reduce((sum, { text }) => sum + countWords(text), 0);
  return Math.round((10_000 * prose.flatMap(foundIn).length) / words) / 10;
}

function listFiles(files: readonly string[]): void {
  for (const file of files) {
    const found = proseIn(file)
      .flatMap(foundIn)
      .sort(([one], [other]) => one - other);
    for (const [line, words, instead] of found) console.log(`${file}:${line}: “${words}” → ${instead}`);
    const words = proseIn(file).reduce((sum, { text }) => sum + countWords(text), 0);
    console.log(`${file}: ${found.length} in ${words} words`);
  }
}

function checkAreas(isUpdate: boolean): void {
  const budget: Record<string, number> = JSON.parse(readFileSync(budgetFile, "utf8"));
  for (const [name, area] of Object.entries(areas)) {
    const [rate, most = rateOf(area)] = [rateOf(area), budget[name]];
    if (rate > most) {
      console.log(
        `${name}: ${rate} per 1,000 words, and at most ${most} are allowed. \`npm run voice FILE\` lists them.`,
      );
      process.exitCode = 1;
    } else if (isUpdate) budget[name] = rate;
    else if (rate < most - 1)
      console.log(`${name}: ${rate} per 1,000 words. Lower its budget: \`npm run voice -- --update\``);
  }
  if (isUpdate) writeFileSync(budgetFile, `${JSON.stringify(budget, null, 2)}\n`);
}

const given = process.argv.slice(2);
if (given.some((word) => !word.startsWith("-"))) listFiles(given);
else checkAreas(given.includes("--update"));
