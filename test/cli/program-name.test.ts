import { expect, test } from "vitest";
import { runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What npx sets for what it runs.
const npx = { npm_command: "exec" };

test.each([
  [["rotatoin"], "`npx svc-sandbox list`"],
  [["keys", "--all"], "`npx svc-sandbox keys --help`"],
  [["exec"], ": npx svc-sandbox exec -- npm test"],
  [["play", "empty.yaml"], ": npx svc-sandbox play rotation"],
  [["show", "rotatoin"], "`npx svc-sandbox list`"],
  [["init"], ": npx svc-sandbox --watch"],
  [["--help"], "Usage: npx svc-sandbox [command]"],
  [["--help"], "  npx svc-sandbox init && npx svc-sandbox --watch"],
  [["--help"], "`npx svc-sandbox <command> --help`"],
  [["keys", "--help"], 'eval "$(npx svc-sandbox keys key-states --format env)"'],
  [["explain", "cut-short", "bad-day"], "; npx svc-sandbox show bad-day\n"],
])("started by npx, %j says %s, and without it the program alone", async (argv, says) => {
  const files = { "empty.yaml": "version: 1\norganizations: { a-bank: { type: bank } }\n" };
  const said = async (env: Record<string, string>) => {
    const { stdout, stderr } = await runCli(argv, { cwd: temporaryFolder(files), env });
    return stdout + stderr;
  };
  expect(await said(npx)).toContain(says);
  const alone = await said({});
  expect(alone).toContain(says.replaceAll("npx ", ""));
  expect(alone).not.toContain("npx svc-sandbox");
});

test("started by npx, the list of keys that are left out and the notes name npx, and the sandbox keeps its name", async () => {
  const { stdout, stderr } = serve(["population", "--watch"], { env: npx });
  await stdout.shows(/^svc-sandbox is listening[\s\S]* more: npx svc-sandbox keys population\n/);
  await stderr.shows(/`npx svc-sandbox show population > my\.yaml`/);
});
