import { basename } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/node/package-files.js";
import { clientFolder } from "../cli/exec-client.js";
import { codeOf, messagePages, pageWith } from "../support/messages.js";
import { type Ran, runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Of a new wrong turn, write the heading and the input: `npx vitest run test/messages -u` adds the text, for you to read.

const shown = ({ code, stdout, stderr }: Ran) => `${stdout}${stderr}[${code}]\n`;
const named = (kind: "scenario" | "command") =>
  messagePages(kind).map((page) => [basename(page.file), page] as const);
const timeout = 120_000;

/** A file in the JSON of `validate`. */
interface Checked {
  readonly problems: readonly { readonly code: string }[];
}

test.each(named("scenario"))("each scenario of %s results in its text", { timeout }, async (_file, page) => {
  const files = page.turns.map(({ name }) => `${name}.yaml`);
  const inputs = page.turns.map(({ input }, index) => [files[index], input]);
  const cwd = temporaryFolder(Object.fromEntries(inputs));
  const { stdout } = await runCli(["validate", ...files, "--json"], { cwd });
  const codes = (JSON.parse(stdout) as Checked[]).map(({ problems }) => problems.map(({ code }) => code));
  expect(codes).toEqual(page.turns.map(({ name }) => expect.arrayContaining([codeOf(name)])));
  const texts: string[] = [];
  for (const file of files) texts.push(shown(await runCli(["validate", file], { cwd })));
  await expect(pageWith(page, "yaml", texts)).toMatchFileSnapshot(page.file);
});

/** The words of a command line, its variables, and the files of the folder: in the lines after it, each with its text. */
function readCommand(input: string) {
  const [line = "", ...files] = input.split("\n");
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, ...groups]) => groups.join(""));
  const at = words.indexOf("svc-sandbox");
  const env = Object.fromEntries(words.slice(0, at).map((word) => word.split("=", 2) as [string, string]));
  return { argv: words.slice(at + 1), env, files: files.filter(Boolean).map((file) => file.split(/ (.*)/)) };
}

const scenario = "version: 1\norganizations: { bank: { type: bank } }\n";
// A sandbox that runs, with a token.
const running = "http://127.0.0.1:4747";

async function textOf(input: string): Promise<string> {
  const { argv, env, files } = readCommand(input);
  const cwd = clientFolder(Object.fromEntries(files.map(([file, text = scenario]) => [file, text])));
  const url = argv.includes(running) ? (await served({ controlToken: "correct-horse" })).url : running;
  const ran = await runCli(
    argv.map((word) => (word === running ? url : word)),
    { cwd, env: { PATH: process.env.PATH ?? "", ...env } },
  );
  expect(ran.code).toBeGreaterThan(0);
  if (ran.code === 2) expect(ran.stdout).toBe("");
  return shown(ran)
    .replaceAll(url, running)
    .replaceAll(`${cwd}/`, "")
    .replaceAll(/\d+\.\d s\b/g, "0.0 s")
    .replaceAll(/, \d+ s$/gm, ", 0 s")
    .replaceAll(version, "<version>");
}

test.each(named("command"))("each command of %s results in its text", { timeout }, async (_file, page) => {
  const texts: string[] = [];
  for (const { input } of page.turns) texts.push(await textOf(input));
  await expect(pageWith(page, "sh", texts)).toMatchFileSnapshot(page.file);
});
