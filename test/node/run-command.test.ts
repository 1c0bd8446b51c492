import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runCommand } from "../../src/node/run-command.js";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// As far as it can be told without Windows: cross-spawn decides by the platform that it reads, and cmd.exe is a script here
// that prints its words and ends with 1.
const program = `
Object.defineProperty(process, "platform", { value: "win32" });
const { runCommand } = await import(${JSON.stringify(join(root, "src/node/run-command.ts"))});
const [cwd, ...command] = process.argv.slice(1);
const env = { PATH: '"' + cwd + '/quoted folder";' + cwd + '/other', PATHEXT: ".COM;.EXE;.BAT;.CMD" };
const end = await runCommand(command, { cwd, env, takeSignals() {} });
console.log(end.failure?.code ?? end.code);
`;

async function runOnWindows(...command: readonly string[]): Promise<string[]> {
  const cwd = temporaryFolder({
    "cmd.sh": '#!/bin/sh\necho "$@"\nexit 1\n',
    gradlew: "#!/bin/sh\n",
    "gradlew.BAT": "",
  });
  mkdirSync(join(cwd, "quoted folder"));
  for (const name of ["my.tool", "my.tool.CMD"]) writeFileSync(join(cwd, "quoted folder", name), "");
  chmodSync(join(cwd, "cmd.sh"), 0o755);
  const argv = ["--import", "tsx", "--input-type=module", "--eval", program, "--", cwd, ...command];
  const env = { ...process.env, comspec: join(cwd, "cmd.sh"), PATHEXT: ".COM;.EXE;.BAT;.CMD" };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: root, env, timeout: 60_000 });
  return stdout.trimEnd().split("\n");
}

test.each([
  ["gradlew of the working folder", ["gradlew", "test"], '/d /s /c "gradlew ^"test^""', "1"],
  ["its path", ["./gradlew", "test"], '/d /s /c "gradlew ^"test^""', "1"],
  ["a dotted name in a quoted folder of PATH", ["my.tool", "a b"], '/d /s /c "my.tool ^"a^ b^""', "1"],
  ["no such command", ["nope"], '/d /s /c "nope"', "ENOENT"],
])("on Windows a command can be %s", async (_title, command, words, end) => {
  expect(await runOnWindows(...command)).toEqual([words, end]);
});

test("a command that cannot start leaves no listeners on the output", async () => {
  const count = () => ["error", "close", "finish", "unpipe"].map((one) => process.stdout.listenerCount(one));
  const before = count();
  expect(
    await runCommand(["no-such-command"], { cwd: root, env: process.env, takeSignals() {}, onOutput() {} }),
  ).toMatchObject({ failure: { code: "ENOENT" } });
  expect(count()).toEqual(before);
});
