import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolder, readFailure, rejectEndlessFile } from "../../node/files/write-file.js";
import { packageFile } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { didYouMean, listed, quote, quoteFile } from "../../schema/words.js";
import { declareCommand, refuseFlags } from "../command.js";
import { unwritable, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { docsPlace, type Io, isExecutable } from "../io.js";
import { writeWholeFile } from "../output-files.js";
import { asFileArgument, folderScenarioFile } from "../scenario.js";
import * as shared from "../shared-flags.js";

/** The first tests of each kind of client: an example, and the file of the user's project that gets it. */
const clients = {
  vitest: { example: "exec/whoami.test.js", file: "test/whoami.test.js" },
  jest: { example: "exec/whoami.jest.cjs", file: "test/whoami.test.cjs" },
  node: { example: "exec/whoami.node.mjs", file: "test/whoami.test.mjs" },
  pytest: { example: "pytest/test_whoami.py", file: "tests/test_whoami.py" },
  junit: { example: "junit5/WhoamiTest.java", file: "src/test/java/WhoamiTest.java" },
  go: { example: "go/whoami_test.go", file: "whoami/whoami_test.go" },
} as const;
type ClientKind = keyof typeof clients;
const clientKinds = Object.keys(clients) as ClientKind[];

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw usageError(
    `Invalid ${from}: ${quote(text)}.${didYouMean(text, clientKinds)} First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. Recipes: ${docsPlace("languages")}.`,
  );
}

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, and prints what to install and how to run them; with --agent a section for coding agents. Does not overwrite a scenario or tests without --force.",
  args: {
    "[file]": "the file to write (default: svc-sandbox.yaml, or a test of the client)",
  },
  flags: {
    force: flag.toggle("--force", "overwrite an existing file"),
    client: flag.option(
      "--client <kind>",
      `write first tests of a client: ${clientKinds.join(", ")}`,
      readClient,
    ),
    agent: flag.toggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
    ),
    quiet: shared.quiet("only errors"),
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client pytest": "first tests",
    "svc-sandbox init --client node test/sandbox.test.mjs": "first tests in a file that you name",
    "svc-sandbox init --agent": "a section in AGENTS.md",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run(call) {
    const { args, flags, io } = call;
    const { client, agent, force = false } = flags;
    const notes: string[] = [];
    if (client !== undefined) notes.push(await writeClientTests(client, args[0], force, io));
    else if (!agent) notes.push(writeStarter(args[0] ?? folderScenarioFile, force, io));
    else refuseFlags(call, ["force"], "init --agent");
    const [extra] = client === undefined && agent ? args : [];
    if (extra !== undefined) throw usageError(`init --agent does not use ${quote(extra)}. Remove it.`);

    if (agent) notes.push(await writeAgentSection(io.cwd));
    if (!flags.quiet) io.stderr.say(notes.map((note) => `${note}\n`).join(""));
  },
});

/** Writes the first tests of a client. Resolves to what was written, and to the head of the file, which tells how to run it. */
async function writeClientTests(
  kind: ClientKind,
  chosenName: string | undefined,
  force: boolean,
  { cwd }: Io,
): Promise<string> {
  const { example, file } = clients[kind];
  const name = chosenName ?? file;
  if (/\.ya?ml$/i.test(name)) {
    throw usageError(
      `init --client writes tests, and ${quoteFile(name)} is the name of a scenario. Use one.`,
    );
  }
  const path = newFile(name, cwd, force);
  const text = String(await packageFile(`examples/${example}`));
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw unwritable(cause, quoteFile(name));
  }
  writeFile(path, text, name);
  const [head = ""] = /^(?:\/\/.*\n)+|^"""[\s\S]*?"""\n/.exec(text) ?? [];
  return `Wrote ${name}. Its first lines:\n\n${head}`;
}

/**
 * The names of the tests in a folder that are as `init` has written them, and that seem to have run: the command or its output
 * names such a file.
 */
export async function untouchedTests(
  cwd: string,
  command: readonly string[],
  output: readonly string[],
): Promise<string[]> {
  const untouched: string[] = [];
  if (!/whoami/i.test([...command, ...output].join("\n"))) return untouched;
  for (const { example, file } of Object.values(clients)) {
    const path = join(cwd, file);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    const asWritten = await packageFile(`examples/${example}`);
    if (asWritten.equals(readFileSync(path))) untouched.push(file);
  }
  return untouched;
}

/** The schema's file name in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. Returns what was written. */
function writeStarter(name: string, force: boolean, io: Io): string {
  if (!/\.ya?ml$/i.test(name)) {
    throw usageError(
      `init writes a scenario: the name ${quoteFile(name)} must end with .yaml. For first tests: ${io.program} init --client <kind>`,
    );
  }
  const file = newFile(name, io.cwd, force);
  const installed = installedFile(dirname(file), "dist/scenario.schema.json");
  writeFile(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);

  // Editors use the schema for completion and checks. An existing copy may be the user's.
  const copy = join(dirname(file), schemaCopy);
  if (installed === undefined && (force || !existsSync(copy))) {
    const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
    writeFile(copy, schema, join(dirname(name), schemaCopy));
  }
  const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
  const start = name === folderScenarioFile ? io.program : `${io.program} ${asFileArgument(name)}`;
  return `Wrote ${name}${beside}. Start it with: ${start} --watch`;
}

const heading = "## svc-sandbox";

/** Adds a section to AGENTS.md, in which other sections stay. Resolves to what was done. */
async function writeAgentSection(cwd: string): Promise<string> {
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? readTextFile(file, "AGENTS.md") : "";
  const hasSection = before.split("\n").some((line) => line.trimEnd() === heading);
  if (hasSection) return `AGENTS.md already has the section ${quote(heading)}; nothing was changed.`;

  // If no package is installed, a copy of its file stands next to the new one. An existing copy may be the user's.
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined && !existsSync(resolve(cwd, copy))) {
    const text = String(await packageFile("docs/agents.md"));
    writeFile(resolve(cwd, copy), asStartedHere(text), copy);
  }

  const section = asStartedHere(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  const after = before === "" ? section : `${before.trimEnd()}\n\n${section}`;
  // The file keeps its line ends.
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  writeFile(file, after.replace(/\r?\n/g, lineEnd), "AGENTS.md");
  return "Added a section to AGENTS.md.";
}

/** A text for coding agents as this program is started: a machine with the single executable may have no npx, and has no files of the package. */
function asStartedHere(text: string): string {
  if (!isExecutable()) return text;
  const withoutNpx = text.replaceAll("npx --no-install ", "");
  return withoutNpx.replace("`docs/` next to this file", docsPlace(""));
}

/** The file of this name. Throws if there is one that must not be overwritten. */
function newFile(name: string, cwd: string, force: boolean): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quoteFile(name)} is a folder. Name a file.`);
  if (force) return file;
  throw new SandboxError(
    "file_exists",
    `${quoteFile(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}

function readTextFile(file: string, name: string): string {
  try {
    rejectEndlessFile(statSync(file));
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usageError(`Failed to read ${quoteFile(name)}: ${readFailure(error)}.`);
  }
}

function writeFile(file: string, text: string, name: string): void {
  try {
    writeWholeFile(file, text, 0o666);
  } catch (cause) {
    throw unwritable(cause, quoteFile(name));
  }
}

/** Returns the path from a folder to a file of the installed package. A package that `npx` downloaded is not found. */
function installedFile(folder: string, name: string): string | undefined {
  for (let above = folder; ; above = dirname(above)) {
    const path = join(above, "node_modules/svc-sandbox", name);
    if (existsSync(path)) {
      const fromFolder = relative(folder, path).replaceAll("\\", "/");
      return fromFolder.startsWith(".") ? fromFolder : `./${fromFolder}`;
    }
    if (above === dirname(above)) return undefined;
  }
}
