import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adviceIds } from "../../src/rules/advice.js";
import { pageOf, root } from "../support/pages.js";

const folder = "docs/decisions";
const files = readdirSync(join(root, folder))
  .filter((name) => name !== "README.md")
  .sort();
const link = String.raw`\[\d+\]\(\d{4}-[\w-]+\.md\)`;
const statusForm = new RegExp(
  String.raw`^\*\*Status\.\*\* (?:Accepted|(?:In part r|R)eplaced by ${link}(?:, ${link})*(?:: .+?)?)\.(?: (?:Replaces|Extends) .+\.)?$`,
);

test.each(files)("%s has a number, one form of status, and its row in the index", (file) => {
  const text = pageOf(`${folder}/${file}`);
  const [, number, title] = /^# (\d+)\. (.+)$/m.exec(text) ?? [];
  expect(file.startsWith(`${String(number).padStart(4, "0")}-`)).toBe(true);
  const [line = ""] = /^\*\*Status.*$/m.exec(text) ?? [];
  expect(line).toMatch(statusForm);
  expect(pageOf(`${folder}/README.md`)).toContain(`\n| ${number} | [${title}](${file}) |\n`);
});

test("the index has the decisions in order, and no other row", () => {
  const rows = [...pageOf(`${folder}/README.md`).matchAll(/^\| (\d+) \|/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(files.map((file) => Number.parseInt(file, 10)));
});

const rooms = readdirSync(root, { withFileTypes: true }).flatMap((one) =>
  one.isDirectory() ? one.name : [],
);

test.each(["README.md", ...files])(
  "decisions/%s names in code only files, commands and advice that exist",
  (file) => {
    const text = pageOf(`${folder}/${file}`);
    const paths = [...text.matchAll(/`([\w.-]+)(\/[\w./-]*)`/g)].flatMap(([, room = "", rest]) =>
      rooms.includes(room) ? [room + rest] : [],
    );
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const { scripts, devDependencies } = JSON.parse(pageOf("package.json"));
    const commands = [...text.matchAll(/`npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
    // Each id of advice has three words or more.
    const ids = [...text.matchAll(/`([a-z]+(?:-[a-z0-9]+){2,})`/g)].map(([, id = ""]) => id);
    const known = [...adviceIds, ...Object.keys(devDependencies)];
    expect(ids.filter((id) => !known.includes(id))).toEqual([]);
  },
);
