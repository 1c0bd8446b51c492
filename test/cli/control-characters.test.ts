import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const evil = "x\u001B]0;title\u0007\u001B[2J\u009B1m\u202Ey";
const name = `${evil}.yaml`;
const scenario = `version: 1
organizations: { bank: { type: bank, keys: { only: { environment: test } } } }
story:
  - request: { key: only, path: ${JSON.stringify(`/${evil}`)} }
    expect: { status: 500, body: { ${JSON.stringify(evil)}: 1 } }
`;

const commands: readonly (readonly string[])[] = [
  ["verify", name],
  ["verify", `no-${name}`],
  ["validate", name],
  ["validate", "broken.yaml"],
  ["start", `--${evil}`],
  ["start", "--port", evil],
  [evil],
  ["explain", evil],
  ["report", `http://127.0.0.1:1/${evil}`],
  ["exec", "--report", evil, "--", "true"],
];

test("play prints no line that a scenario starts, which a CI log could take for a command", async () => {
  const text = JSON.stringify(`a\n::error::b\r\n::error::c ${"d".repeat(20)} ::error::${"e".repeat(50)}`);
  const organizations = "{ bank: { type: bank, keys: { only: { environment: test } } } }";
  const story = `version: 1\nname: ${text}\norganizations: ${organizations}\nstory: [{ say: ${text} }]\n`;
  const cwd = temporaryFolder({ "story.yaml": story });
  const { stdout, stderr } = await runCli(["play", "story.yaml"], { cwd });
  expect(stdout + stderr).toContain("c dddd");
  expect(stdout + stderr).not.toMatch(/^\s*::/m);
});

test.each(commands)("svc-sandbox %j %j prints nothing that plays with a terminal", async (...argv) => {
  const cwd = temporaryFolder({
    [name]: scenario,
    "broken.yaml": `version: 1\n${JSON.stringify(evil)}: 1\norganizations: { ${JSON.stringify(evil)}: 1 }\n`,
  });
  for (const terminal of [false, true]) {
    const { stdout, stderr, code } = await runCli(argv.filter(Boolean), { cwd, terminal });
    expect(stdout + stderr).not.toBe("");
    expect(code).toBeLessThan(3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of a terminal are ours
    const plain = (stdout + stderr).replace(terminal ? /\u001B\[\d+m/g : "", "");
    expect(plain).not.toMatch(/(?![\n\t])[\p{Cc}\u202A-\u202E]/u);
  }
});
