import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyedPaths, limitPaths } from "../src/check/keys.js";
import { checkedRules } from "../src/check/rules.js";
import { probeKeys, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs/check.md");

test("the example in docs/check.md is what a check prints (UPDATE=1 rewrites it)", async () => {
  const { url } = await serveProbed((reply, { ref }) => {
    // biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
    const { error, data } = reply.body as any;
    if (ref === "expired") error.message = "The key has expired.";
    if (ref === "active") data.limits.per_day = "1000";
  });
  const env = {
    SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string,
    SVC_KEY_EXPIRED: probeKeys.SVC_KEY_EXPIRED as string,
  };
  const { stdout } = await runCli(["check", url], { env });
  const printed = stdout.replaceAll(url, "https://api.example");
  const before = readFileSync(file, "utf8");
  const after = before.replace(
    /(<!-- example: .* -->\n\n```text\n)[\s\S]*?(```\n)/,
    (_all, start: string, end: string) => start + printed + end,
  );
  if (process.env.UPDATE) writeFileSync(file, after);
  expect(readFileSync(file, "utf8")).toBe(after);
  expect(after).toContain(printed);
});

test("docs/check.md names every variable and the path that it is for", () => {
  const rows = readFileSync(file, "utf8").match(/^\| (?:none|`SVC_).*$/gm) ?? [];
  for (const { pathId, variables } of [...keyedPaths, ...limitPaths]) {
    const [own = ""] = variables;
    expect([own, rows.some((row) => row.includes(`\`${own}\``) && row.includes(`\`${pathId}\``))]).toEqual([
      own,
      true,
    ]);
  }
});

test("every rule of the answers has a place in the report, under its number in docs/rules.md", () => {
  const rules = readFileSync(join(root, "docs/rules.md"), "utf8");
  const answers = Array.from({ length: 28 }, (_, index) => `R${index + 1}`);
  expect(Object.keys(checkedRules)).toEqual([...answers, "R34", "R37", "R38"]);
  for (const rule of Object.keys(checkedRules)) expect(rules).toContain(`| ${rule} |`);
});
