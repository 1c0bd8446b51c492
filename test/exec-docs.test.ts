import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../src/cli/commands.js";
import { runCli } from "./support/run-cli.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const page = readFileSync(join(import.meta.dirname, "../docs/exec.md"), "utf8");
const examples = commands.find(({ name }) => name === "exec")?.examples ?? [];

// With another command in the place of theirs, which is not there: everything else has been understood then.
test.each(
  [...page.matchAll(/npx (svc-sandbox exec .*)$/gm), ...examples.map(({ line }) => ["", line])].map(
    ([, line]) => line as string,
  ),
)("%s is understood", async (line) => {
  const [, own = ""] = /^svc-sandbox (exec(?: .*?)?) -- ./.exec(line) ?? [];
  const run = await runCli([...own.split(" "), "--", "no-such-command"], { cwd: temporaryFolder() });
  expect(run).toMatchObject({ code: 127, stdout: "" });
});
