import { expect, test } from "vitest";
import { runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What npx sets for what it runs.
const npx = { npm_command: "exec" };

test.each([
  [["rotatoin"], "`npx --no-install svc-sandbox list`"],
  [["exec"], ": npx --no-install svc-sandbox exec -- npm test"],
  [["init"], ": npx --no-install svc-sandbox --watch"],
  [["--help"], "Usage: npx --no-install svc-sandbox [command]"],
  [["start", "--help", "--all"], "# in the background, until npx --no-install svc-sandbox stop"],
  [["keys", "--help"], 'eval "$(npx --no-install svc-sandbox keys key-states --format env)"'],
  [["explain", "active", "--url", "http://127.0.0.1:1"], "with `npx --no-install svc-sandbox start`"],
])("started by npx, %j shows %s, and otherwise only the program", async (argv, says) => {
  const said = async (env: Record<string, string>) => {
    const { stdout, stderr } = await runCli(argv, { cwd: temporaryFolder(), env });
    return (stdout + stderr).replace(/\s+/g, " ");
  };
  expect(await said(npx)).toContain(says);
  const alone = await said({});
  expect(alone).toContain(says.replaceAll("npx --no-install ", ""));
  expect(alone).not.toContain("--no-install");
});

test("started by npx, the list of keys that are left out names npx, and the sandbox keeps its name", async () => {
  const cwd = temporaryFolder({ "many.yaml": "version: 1\npopulation: { organizations: 200 }\n" });
  const many = serve(["many.yaml"], { cwd, env: npx });
  await many.stdout.shows(
    /^svc-sandbox is listening[\s\S]* more: npx --no-install svc-sandbox keys many\.yaml\n/,
  );
});

test("started by npx, a text of the user stays as it is, and the caret below it points to the mistake", async () => {
  const say = "A developer types svc-sandbox start my.yaml";
  const line = `  - { say: ${say}, sey: again }`;
  const cwd = temporaryFolder({ "my.yaml": `version: 1\norganizations: {}\nstory:\n${line}\n` });
  const { stdout, stderr } = await runCli(["validate", "my.yaml"], { cwd, env: npx });
  const lines = (stdout + stderr).split("\n");
  const at = lines.findIndex((one) => one.endsWith(line));
  expect([lines[at + 1]?.indexOf("^"), lines[at]?.slice(-line.length)]).toEqual([
    lines[at]?.indexOf("sey:"),
    line,
  ]);
});
