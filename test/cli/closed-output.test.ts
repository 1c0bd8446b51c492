import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.js";
import { good } from "../stories/stories.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Command lines that write until Ctrl-C, or for long; such a command must ask its output whether it has `room`. */
const endless: Readonly<Record<string, string>> = {
  fixtures: "fixtures farmers --count 1000000",
  verify: "verify good.yaml --watch",
};

/** Why the others need not end before. */
const others: Readonly<Record<string, string>> = {
  start: "serves on, as a program may stop reading after the line of --json",
  exec: "passes its command's output on, whose pipe it closes",
  certify: "prints once, when the runs have ended",
  play: "ends with its story",
  ...Object.fromEntries(
    [
      "list",
      "show",
      "init",
      "validate",
      "keys",
      "explain",
      "compare",
      "report",
      "stop",
      "openapi",
      "schema",
    ].map((name) => [name, "prints once"]),
  ),
};

test("each command is known to write for long, or to end by itself", () => {
  expect([...Object.keys(endless), ...Object.keys(others)].sort()).toEqual(Object.keys(commands).sort());
});

test.skipIf(process.platform === "win32").each(Object.values(endless))(
  "%s ends once nobody reads it, as with | head -1",
  async (line) => {
    const cwd = temporaryFolder({ "good.yaml": good });
    const { child, until, ended } = startBin(line.split(" "), { cwd });
    let isWaiting = false;
    child.stderr?.on("data", (text) => {
      isWaiting ||= text.includes("Waiting for changes");
    });
    await until(/\n/);
    child.stdout?.destroy();
    if (line.endsWith("--watch")) {
      await expect.poll(() => isWaiting).toBe(true);
      writeFileSync(join(cwd, "good.yaml"), `${good}\n`);
    }
    expect(await ended).toMatchObject({ code: 0, signal: null });
  },
);
