import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { adviceTable } from "../src/domain/advice.js";
import { outcomes } from "../src/domain/outcomes.js";
import { startServer } from "../src/node/index.js";
import { mePath } from "./support/doors.js";
import { installedFolder } from "./support/installed.js";
import { runCommand } from "./support/running-command.js";

const folder = join(import.meta.dirname, "../docs");
const file = join(folder, "report.md");

test("the table of docs/report.md is the list of advice (UPDATE=1 rewrites it)", () => {
  const rows = adviceTable.map(({ id, level, rule, meaning, whatToDo }) => [
    `\`${id}\``,
    level,
    rule,
    meaning,
    whatToDo,
  ]);
  const lines = [
    ["advice", "level", "rule", "what the client did", "what to do"],
    ["---", "---", "---", "---", "---"],
    ...rows,
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const text = readFileSync(file, "utf8");
  const written = text.replace(
    /(<!-- advice -->\n)[\s\S]*?(<!-- \/advice -->)/,
    (_all, start: string, end: string) => `${start}\n${lines.join("\n")}\n\n${end}`,
  );
  if (process.env.UPDATE) writeFileSync(file, written);
  expect(readFileSync(file, "utf8")).toBe(written);
});

test("the page knows how many paths are promised", () => {
  const count = outcomes.filter(({ promised }) => promised).length;
  expect(readFileSync(file, "utf8")).toContain(`promises ${count} paths`);
});

test("the lines of the page print a report of the server, and gate", async () => {
  const user = installedFolder();
  onTestFinished(user.remove);
  const server = await startServer();
  onTestFinished(() => server.close(0));
  await fetch(server.url + mePath);
  const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(readFileSync(file, "utf8")) ?? [];
  const env = { SVC_CONTROL_URL: String(server.controlUrl) };
  const { code, stdout } = await runCommand(block, { cwd: user.folder, env }).ended;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^# Coverage 5 %[\s\S]*and 80 % is asked for/)]);
});
