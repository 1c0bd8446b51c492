import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolder } from "../../node/files/write-file.js";
import { packageFile, repository, version } from "../../node/package-files.js";
import { shellWord } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { listed, quote, quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { docsPlace, servedDocs } from "../docs-place.js";
import { isExecutable } from "../executable.js";
import { unwritable, usageError } from "../exit-codes.js";
import { writeFileAtomically } from "../files/output-file.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { asFileArgument, ownScenario } from "../scenario/open-scenario.js";

const goModule = `${repository.replace("https://", "")}/packaging/go`;

const clientKinds = ["vitest", "jest", "node", "pytest", "junit", "go"] as const;
type ClientKind = (typeof clientKinds)[number];

/** The first tests of a kind of client, and what a project needs for them. */
interface ClientTests {
  /** The folder in `examples`. */
  readonly example: string;
  /** The file in this folder. */
  readonly test: string;
  /** The file in the user's project, if the call names no other one. */
  readonly to: string;
  /** How the names of such files end, so that their runner finds and reads them. */
  readonly endings: readonly string[];
  /** What the tests need, as the files of a project name it. */
  readonly needs: readonly string[];
  /** The files of a project that may name it. */
  readonly files: readonly string[];
  /** The command that the script `test:sandbox` runs with a sandbox. */
  readonly script?: string;
  /** The command line that runs the tests; % is the folder of their file. */
  readonly run: string;
  /** How to install what they need besides this package, from its folder (%). */
  readonly install?: string;
}

const thisPackage = '"svc-sandbox"';
const nodeProject = { example: "exec", files: ["package.json"], run: "npm run test:sandbox" };

const clients: Readonly<Record<ClientKind, ClientTests>> = {
  vitest: {
    ...nodeProject,
    test: "whoami.test.js",
    to: "test/whoami.test.js",
    endings: [".js", ".mjs", ".ts", ".mts"],
    needs: [thisPackage, '"vitest"'],
    script: "vitest run",
    install: "npm install --save-dev vitest",
  },
  jest: {
    ...nodeProject,
    test: "whoami.jest.cjs",
    to: "test/whoami.test.cjs",
    endings: [".cjs", ".js"],
    needs: [thisPackage, '"jest"'],
    script: "jest",
    install: "npm install --save-dev jest",
  },
  node: {
    ...nodeProject,
    test: "whoami.node.mjs",
    to: "test/whoami.test.mjs",
    endings: [".mjs", ".js"],
    needs: [thisPackage],
    script: "node --test",
  },
  pytest: {
    example: "pytest",
    test: "test_whoami.py",
    to: "tests/test_whoami.py",
    endings: [".py"],
    needs: ["svc_sandbox"],
    files: [],
    run: "python3 -m pytest --min-coverage 80",
    install: "python3 -m pip install pytest %/packaging/python",
  },
  junit: {
    example: "junit5",
    test: "WhoamiTest.java",
    to: "src/test/java/WhoamiTest.java",
    endings: ["Test.java"],
    needs: ["svc-sandbox-junit5"],
    files: ["pom.xml", "build.gradle", "build.gradle.kts"],
    run: "mvn test -Dsvc-sandbox.min-coverage=80",
    install: "mvn --file %/packaging/java install",
  },
  go: {
    example: "go",
    test: "whoami_test.go",
    to: "whoami/whoami_test.go",
    endings: ["_test.go"],
    needs: [goModule],
    files: ["go.mod"],
    run: "SVC_SANDBOX_MIN_COVERAGE=80 go test %",
    // No terminal breaks lines as short as these, which are pasted.
    install: `module=${goModule}\n  go mod edit -require=$module@v${version}\n  go mod edit -replace=$module=%/packaging/go`,
  },
};

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw usageError(
    `Invalid ${from}: ${quote(text)}. First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. Recipes: ${docsPlace("test-runners")}.`,
  );
}

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, if the project has what they need; with --agent a section for coding agents. Does not overwrite a scenario or tests without --force.",
  args: {
    "[file]":
      "the file to write (default: svc-sandbox.yaml, which start finds automatically; with --client a file in the folder of the client's tests)",
  },
  flags: {
    force: flag.force,
    client: flag.cliOnlyOption(
      "--client <kind>",
      `write first tests of a client: ${clientKinds.join(", ")}`,
      readClient,
    ),
    agent: flag.cliOnlyToggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
    ),
    quiet: flag.quiet("only errors"),
  },
  modes: [
    {
      name: "init --client",
      when: ({ flags }) => flags.client !== undefined,
      words: ["[file]"],
      flags: ["client", "agent", "force", "quiet"],
    },
    { name: "init --agent", when: ({ flags }) => flags.agent, words: [], flags: ["agent", "quiet"] },
    { name: "init", words: ["[file]"], flags: ["force", "quiet"] },
  ],
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client pytest": "first tests",
    "svc-sandbox init --client node test/sandbox.test.mjs": "first tests in a file that you name",
    "svc-sandbox init --agent": "a section in AGENTS.md",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run({ args, flags, io }) {
    const { client, agent } = flags;
    if (client === undefined && !agent) {
      writeStarter(args[0] ?? ownScenario, flags, io);
      return;
    }

    const notes: string[] = [];
    if (client !== undefined) {
      const file = args[0] ?? clients[client].to;
      notes.push(...(await writeClientTests(client, file, io, flags)));
    }
    if (agent) notes.push(...(await writeAgentSection(io.cwd)));
    if (!flags.quiet) io.stderr.say(notes.map((line) => `${line}\n`).join(""));
  },
});

interface WriteFlags {
  readonly force?: boolean;
  readonly quiet?: boolean;
}

/** The schema's file name in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. */
function writeStarter(name: string, flags: WriteFlags, io: Io): void {
  if (/\.json\w?$/i.test(name)) {
    const yamlName = name.replace(/json\w?$/i, "yaml");
    throw usageError(`The starter is YAML with comments, and JSON has none. Name ${quoteFile(yamlName)}.`);
  }

  const file = newFile(name, io.cwd, flags);
  const installed = installedFile(dirname(file), "dist/scenario.schema.json");
  write(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);

  // Editors use the schema for completion and checks. An existing copy may be the user's.
  const copy = join(dirname(file), schemaCopy);
  if (installed === undefined && (flags.force || !existsSync(copy))) {
    const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
    write(copy, schema, join(dirname(name), schemaCopy));
  }

  if (flags.quiet) return;
  const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
  const start = name === ownScenario ? io.program : `${io.program} ${asFileArgument(name)}`;
  io.stderr.say(`Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
}

/** Writes the first tests of a client into a file. Resolves to the lines that say what was written. */
async function writeClientTests(
  kind: ClientKind,
  name: string,
  io: Io,
  flags: WriteFlags,
): Promise<string[]> {
  const { example, test, script } = clients[kind];
  // What is wrong with the project or the call shows before the first file is written.
  requireEnding(kind, name);
  const project = script === undefined ? undefined : await addScript(script, io.cwd);
  await checkNeeds(kind, io);
  const file = newFile(name, io.cwd, flags);

  const text = await packageFile(`examples/${example}/${test}`);
  makeFolderFor(file);
  write(file, text, name);
  const folder = relative(io.cwd, dirname(file));
  const testFolder = folder === "" ? "." : shellWord(`./${folder}`);
  const run = clients[kind].run.replace("%", () => testFolder);
  if (project === undefined) return [`Wrote ${name}.`, `Run it with: ${run}`];
  if (!project.isAdded) {
    return [
      `Wrote ${name}. The script test:sandbox is unchanged.`,
      `Run it with: ${io.program} ${project.execLine}`,
    ];
  }
  write(join(io.cwd, "package.json"), project.text);
  return [`Wrote ${name}, and the script test:sandbox.`, `Run it with: ${run}`];
}

/** Throws a usage error if the tests of a client are of another kind than a file of this name, such as a scenario. */
function requireEnding(kind: ClientKind, name: string): void {
  const { endings } = clients[kind];
  if (endings.some((ending) => name.endsWith(ending))) return;
  throw usageError(
    `First tests of ${kind} cannot be written to ${quoteFile(name)}: its name must end with ${listed(endings, "or")}. For a scenario, leave out --client.`,
  );
}

/** What a project has of what the tests of a client need. */
interface ProjectNeeds {
  /** Its files that may name the needs. */
  readonly existing: readonly string[];
  /** The needs that none of these files names. */
  readonly missing: readonly string[];
  /** The folder of the installed package; `undefined` if neither the project nor a folder above has it. */
  readonly packageFolder: string | undefined;
  /** Whether this package has to be installed first. */
  readonly lacksPackage: boolean;
}

/** Throws a usage error with what to install, if a project lacks what the tests need. */
async function checkNeeds(kind: ClientKind, io: Io): Promise<void> {
  const { needs, files } = clients[kind];
  const existing = files.filter((name) => existsSync(join(io.cwd, name)));
  const missing = await missingNeeds(kind, existing, io);
  if (missing.length === 0) return;

  let lack = "which python3 does not find";
  if (existing.length > 0) lack = `which ${existing[0]} does not have`;
  else if (files.length > 0) lack = `and there is no ${files[0]} here`;
  const needed = listed(missing, "and").replaceAll('"', "");

  const installed = installedFile(io.cwd, "package.json");
  // A project of Node must name the package itself, also if a folder above has it.
  const mustNamePackage = needs.includes(thisPackage);
  const steps = await installSteps(kind, io, {
    existing,
    missing,
    packageFolder: installed && dirname(installed),
    lacksPackage: mustNamePackage ? missing.includes(thisPackage) : installed === undefined,
  });
  throw usageError(`Nothing was written: the tests need ${needed}, ${lack}.\n\n${steps.join("\n\n")}`);
}

/** The needs that no file of the project names. */
async function missingNeeds(kind: ClientKind, existing: readonly string[], io: Io): Promise<string[]> {
  const { cwd, env } = io;
  const { needs } = clients[kind];
  if (kind === "pytest") {
    // Python itself is asked what it finds, also in a virtual environment.
    const python = spawnSync("python3", ["-c", "import svc_sandbox.pytest_plugin"], { cwd, env });
    return python.status === 0 ? [] : [...needs];
  }
  const texts = await Promise.all(existing.map((name) => readFile(join(cwd, name), "utf8")));
  const text = texts.join("\n");
  return needs.filter((need) => !text.includes(need));
}

/** The paragraphs about what to do before the tests of a client can be written. */
async function installSteps(kind: ClientKind, io: Io, project: ProjectNeeds): Promise<string[]> {
  const steps: string[] = [];
  if (kind === "junit") steps.push(...(await pomSteps(project.existing)));

  const what = kind === "junit" ? "the jar" : "it";
  const from = project.lacksPackage ? ", with the file of npm pack (there is no release yet)" : "";
  steps.push(`Install ${what}${from}:`);
  const commands = installCommands(kind, project);
  steps.push(commands.map((line) => `  ${line}`).join("\n"));
  steps.push(`Then run this again: ${io.program} init --client ${kind}`);
  if (kind === "junit") steps.push(`No Maven, no Gradle: ${docsPlace("test-runners", "junit-5")}.`);
  return steps;
}

/** The command lines that install this package, if a project lacks it, and what else the tests need. */
function installCommands(kind: ClientKind, project: ProjectNeeds): string[] {
  const { existing, missing, packageFolder, lacksPackage } = project;
  const { needs, install } = clients[kind];
  // A machine with the single executable may have no npm.
  const unpacksItself = isExecutable() && !needs.includes(thisPackage);
  const unpack = unpacksItself ? "tar -xzf" : "npm install --save-dev";
  const unpackedFolder = unpacksItself ? "./package" : "./node_modules/svc-sandbox";

  const commands: string[] = [];
  if (lacksPackage) commands.push(`${unpack} ./svc-sandbox-${version}.tgz`);
  if (kind === "go" && existing.length === 0) commands.push("go mod init example.com/client");
  const lacksMore = missing.some((need) => need !== thisPackage);
  if (lacksMore && install !== undefined) {
    commands.push(install.replace("%", () => packageFolder ?? unpackedFolder));
  }
  return commands;
}

/** What to put into the file of a Java project: into its own one, the dependency; the whole pom.xml of the example if there is none. */
async function pomSteps(existing: readonly string[]): Promise<string[]> {
  const pom = String(await packageFile("examples/junit5/pom.xml")).trimEnd();
  const [ownFile] = existing;
  if (ownFile === undefined) return [`Put this into ${clients.junit.files[0]}:`, pom];
  const [dependency = ""] = /^ *<dependency>[\s\S]*?<\/dependency>$/m.exec(pom) ?? [];
  return [`Put this into ${ownFile}:`, dependency];
}

/** The package.json of a project, with the script `test:sandbox`. */
interface ProjectScript {
  /** The text of package.json with the script. */
  readonly text: string;
  /** The command line of the script, without the program. */
  readonly execLine: string;
  /** Whether the text has it: another script of its name stays. */
  readonly isAdded: boolean;
}

/** Adds the script that runs a command with a sandbox to the text of package.json. */
async function addScript(command: string, cwd: string): Promise<ProjectScript> {
  const file = join(cwd, "package.json");
  const before = existsSync(file) ? await readFile(file, "utf8") : "{}";
  // Some editors on Windows write a byte order mark, which npm reads over.
  const [mark = ""] = /^\uFEFF/.exec(before) ?? [];
  const project = tryParseJson(before.slice(mark.length));
  if (project === undefined) throw usageError(`Nothing was written: ${quoteFile(file)} is not valid JSON.`);
  if (!isMapping(project)) {
    throw usageError(
      `Nothing was written: ${quoteFile(file)} is not an object, which a package.json must be.`,
    );
  }

  const execLine = `exec key-states --fail-on warning -- ${command}`;
  const line = `svc-sandbox ${execLine}`;
  // Another script of this name comes later, and so it stays.
  const scripts = { "test:sandbox": line, ...(project.scripts as object | undefined) };
  // The file keeps its indentation and its line ends.
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(before) ?? [];
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const json = `${JSON.stringify({ ...project, scripts }, null, indent)}\n`;
  const text = `${mark}${json.replaceAll("\n", lineEnd)}`;
  return { text, execLine, isAdded: scripts["test:sandbox"] === line };
}

const heading = "## svc-sandbox";

/** Adds a section to AGENTS.md, in which other sections stay. Resolves to the lines that say so. */
async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  if (before.includes(heading)) {
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  }

  // If no package is installed, a copy of its file stands next to the new one.
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined) {
    const text = String(await packageFile("AGENTS.md"));
    write(resolve(cwd, copy), asStartedHere(text));
  }

  const section = asStartedHere(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  write(file, before === "" ? section : `${before.trimEnd()}\n\n${section}`);
  return [`Added a section to AGENTS.md.`];
}

/** A text for coding agents as this program is started: a machine with the single executable may have no npx, and has no files of the package. */
function asStartedHere(text: string): string {
  if (!isExecutable()) return text;
  const lines = text.replaceAll("npx --no-install ", "");
  return lines.replace("`docs/` next to this file", `${servedDocs}/ of a running sandbox`);
}

function makeFolderFor(file: string): void {
  try {
    makeFolder(dirname(file));
  } catch (cause) {
    throw unwritable(cause, quoteFile(file));
  }
}

/** Writes a file, which messages call by its name. */
function write(file: string, text: string | Buffer, name = file): void {
  try {
    writeFileAtomically(file, text, 0o666);
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

/** The file of this name. Throws if there is one that must not be overwritten. */
function newFile(name: string, cwd: string, flags: WriteFlags): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quoteFile(name)} is a folder. Name a file.`);
  if (flags.force) return file;
  throw new SandboxError(
    "file_exists",
    `${quoteFile(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}

/** The names of the tests in a folder that are as `init` has written them. */
export async function untouchedTests(cwd: string): Promise<string[]> {
  const untouched: string[] = [];
  for (const { example, test, to } of Object.values(clients)) {
    const file = join(cwd, to);
    if (!existsSync(file)) continue;
    const asWritten = await packageFile(`examples/${example}/${test}`);
    if (asWritten.equals(await readFile(file))) untouched.push(to);
  }
  return untouched;
}
