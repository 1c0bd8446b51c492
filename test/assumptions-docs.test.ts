import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { assumptionTable } from "../src/domain/assumptions.js";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { assumptionsTable, variationRows } from "./support/assumption-tables.js";
import { codeBlocks } from "./support/documented-code.js";
import { runCommand } from "./support/running-command.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs");
const file = join(folder, "assumptions.md");

const between = (text: string, mark: string, table: string) =>
  text.replace(
    new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*?(<!-- /${mark} -->)`),
    (_all, start: string, end: string) => `${start}\n${table}\n\n${end}`,
  );

/** Runs a test file of a user who has the built package and vitest. */
function runInVitest(code: string) {
  const cwd = temporaryFolder({ "node_modules/.keep": "", "bank.test.ts": code });
  symlinkSync(join(root, "node_modules/vitest"), join(cwd, "node_modules/vitest"));
  symlinkSync(root, join(cwd, "node_modules/svc-sandbox"));
  return runCommand("node node_modules/vitest/vitest.mjs run", { cwd }).ended;
}

test("the assumptions of docs/assumptions.md are those of the sandbox (UPDATE=1 rewrites them)", () => {
  const text = readFileSync(file, "utf8");
  const written = between(text, "assumptions", assumptionsTable());
  if (process.env.UPDATE) writeFileSync(file, written);
  expect(readFileSync(file, "utf8")).toBe(written);
});

test("the page lists every row of what varies, with all its variants in their order", () => {
  const { told, real } = variationRows(readFileSync(file, "utf8"));
  expect(told).toEqual(real);
});

test("the page names every assumption, and its scenario is one", () => {
  const text = readFileSync(file, "utf8");
  for (const name of Object.keys(assumptionTable)) expect(text).toContain(`| \`${name}\` |`);
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  expect(parseScenario(yaml).assumptions).toEqual({
    profile: "typical",
    rate_limit_code: "too_many_requests",
  });
});

test("the example of the page passes", async () => {
  const [example] = codeBlocks(readFileSync(file, "utf8"));
  const { code, stdout } = await runInVitest(example?.code ?? "");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Tests +8 passed/)]);
});

test("docs/scenarios.md leaves the list to the page", () => {
  const text = readFileSync(join(folder, "scenarios.md"), "utf8");
  const [, section = ""] = /\n### `assumptions`\n([\s\S]*?)\n## /.exec(text) ?? [];
  expect(section).toContain("(assumptions.md)");
  expect(section).not.toContain("\n|");
});
