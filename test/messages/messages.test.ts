import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/node/package-files.js";
import { clientFolder } from "../cli/exec-client.js";
import { messageFolder, messageNames, wrongScenarios } from "../support/messages.js";
import { type Ran, runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";

// One pair of files for each wrong turn: what a person wrote, and what they then read, with the exit code at its end.
// A new one is its input: `npx vitest run test/messages -u` writes the text, which you read before you keep it.

const shown = ({ code, stdout, stderr }: Ran) => `${stdout}${stderr}[${code}]\n`;
const expected = (kind: "scenarios" | "commands", name: string) => join(messageFolder(kind), `${name}.out`);

test.each(wrongScenarios)("the scenario $name results in its text", async ({ name, code }) => {
  const cwd = messageFolder("scenarios");
  const { stdout } = await runCli(["validate", `${name}.yaml`, "--json"], { cwd });
  expect(JSON.parse(stdout)[0].problems).toContainEqual(expect.objectContaining({ code }));
  const ran = await runCli(["validate", `${name}.yaml`], { cwd });
  await expect(shown(ran)).toMatchFileSnapshot(expected("scenarios", name));
});

/** The words of a command line, its variables, and the files of the folder: in the lines after it, each with its text. */
function readCommand(name: string) {
  const [line = "", ...files] = readFileSync(join(messageFolder("commands"), `${name}.in`), "utf8").split(
    "\n",
  );
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, ...found]) => found.join(""));
  const at = words.indexOf("svc-sandbox");
  const env = Object.fromEntries(words.slice(0, at).map((one) => one.split("=", 2) as [string, string]));
  return { argv: words.slice(at + 1), env, files: files.filter(Boolean).map((file) => file.split(/ (.*)/)) };
}

const scenario = "version: 1\norganizations: { bank: { type: bank } }\n";

test.each(messageNames("commands", ".in"))("the command %s results in its text", async (name) => {
  const { argv, env, files } = readCommand(name);
  const cwd = clientFolder(Object.fromEntries(files.map(([file, text = scenario]) => [file, text])));
  // A sandbox that runs, with a token.
  const at = "http://127.0.0.1:4747";
  const url = argv.includes(at) ? (await served({ controlToken: "correct-horse" })).url : at;
  const ran = await runCli(
    argv.map((word) => (word === at ? url : word)),
    { cwd, env: { PATH: process.env.PATH ?? "", ...env } },
  );
  expect(ran.code).toBeGreaterThan(0);
  if (ran.code === 2) expect(ran.stdout).toBe("");
  const text = shown(ran)
    .replaceAll(url, at)
    .replaceAll(/\d+\.\d s\b/g, "0.0 s")
    .replaceAll(version, "<version>");
  await expect(text).toMatchFileSnapshot(expected("commands", name));
});

test("each text has its input", () => {
  expect(messageNames("scenarios", ".out")).toEqual(messageNames("scenarios", ".yaml"));
  expect(messageNames("commands", ".out")).toEqual(messageNames("commands", ".in"));
});
