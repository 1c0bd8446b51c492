import { basename } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/node/package-files.js";
import { clientFolder } from "../cli/exec-client.js";
import { codeOf, correctedTurns, messagePages, pageWith } from "../support/messages.js";
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
  readonly problems: readonly { readonly code: string; readonly hint?: string }[];
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

const end = " without quotes| for 5%| in place of .+| for its organization| \\(minutes\\)";
const fixes = [
  /^did you mean "?([^"? ]+)"?\?(?:$| if not)/,
  /^a path starts with \/ and is encoded: (.+)$/,
  /^close it with (["'])$/,
  /^\w+ belongs in (\w+: \{ \w+: … \})$/,
  new RegExp(
    `^(?:write|add|call it)(?: it [\\w ,-]+:| a list:| one:)? (?!(?:an?|the|another|it|one)\\b)((?:(?! or | with ).)+?)(?:${end})?$`,
  ),
];

/** The text that a hint has for a file, around what it leaves to the reader (…); `undefined` if it has none, or several. */
const fixOf = (hint: string) => fixes.flatMap((fix) => fix.exec(hint)?.[1]?.split(" … ") ?? []);

test("each hint that is one fix has a corrected twin, which contains the fix and is valid", {
  timeout,
}, async () => {
  const turns = messagePages("scenario").flatMap((page) => page.turns);
  const cwd = temporaryFolder({
    ...Object.fromEntries(turns.map(({ name, input }) => [`wrong/${name}.yaml`, input])),
    ...Object.fromEntries([...correctedTurns].map(([name, text]) => [`right/${name}.yaml`, text])),
  });
  const wrong = await runCli(["validate", ...turns.map(({ name }) => `wrong/${name}.yaml`), "--json"], {
    cwd,
  });
  const fixesOf = (JSON.parse(wrong.stdout) as Checked[]).map(({ problems }) =>
    problems.map(({ hint = "" }) => fixOf(hint)),
  );
  const withFix = turns.filter((_, index) => fixesOf[index]?.every((parts) => parts.length > 0));
  expect([...correctedTurns.keys()].sort()).toEqual(withFix.map(({ name }) => name).sort());
  for (const [index, { name, input }] of turns.entries()) {
    const twin = correctedTurns.get(name);
    if (twin === undefined) continue;
    expect(twin, name).not.toBe(input);
    for (const part of fixesOf[index]?.flat() ?? []) expect(twin, name).toContain(part);
  }
  const right = await runCli(["validate", ...withFix.map(({ name }) => `right/${name}.yaml`)], { cwd });
  expect([right.code, right.stderr]).toEqual([0, ""]);
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
