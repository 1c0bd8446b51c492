import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolder, writeFileAtomically } from "../../node/files/write-file.js";
import { packageFile, repository, version } from "../../node/package-files.js";
import { isExecutable } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { parsedJson } from "../../rules/schema/json.js";
import { isMapping } from "../../rules/schema/shape.js";
import { listed, quote, quoteFile } from "../../rules/schema/words.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { declareCommand } from "../command.js";
import { unwritable, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { asFileArgument, ownScenario } from "../open-scenario.js";

const goModule = `${repository.replace("https://", "")}/packaging/go`;

const clientKinds = ["vitest", "jest", "node", "pytest", "junit", "go"] as const;
type ClientKind = (typeof clientKinds)[number];

interface ClientFiles {
  /** The folder in `examples`, its test, and where a project has it. */
  readonly example: string;
  readonly test: string;
  readonly to: string;
  /** What the tests need, and the files of a project that name it. */
  readonly needs: readonly string[];
  readonly files: readonly string[];
  /** The command of the script `test:sandbox`, which runs with a sandbox. */
  readonly script?: string;
  readonly run: string;
  /** How to install what they need besides this package, from its folder (%). */
  readonly install?: string;
}

const thisPackage = '"svc-sandbox"';
const ofPackageJson = { example: "exec", files: ["package.json"], run: "npm run test:sandbox" };

const clients: Readonly<Record<ClientKind, ClientFiles>> = {
  vitest: {
    ...ofPackageJson,
    test: "whoami.test.js",
    to: "test/whoami.test.js",
    needs: [thisPackage, '"vitest"'],
    script: "vitest run",
    install: "npm install --save-dev vitest",
  },
  jest: {
    ...ofPackageJson,
    test: "whoami.jest.cjs",
    to: "test/whoami.test.cjs",
    needs: [thisPackage, '"jest"'],
    script: "jest",
    install: "npm install --save-dev jest",
  },
  node: {
    ...ofPackageJson,
    test: "whoami.node.mjs",
    to: "test/whoami.test.mjs",
    needs: [thisPackage],
    script: "node --test",
  },
  pytest: {
    example: "pytest",
    test: "test_whoami.py",
    to: "tests/test_whoami.py",
    needs: ["svc_sandbox"],
    files: [],
    run: "python3 -m pytest --min-coverage 80",
    install: "python3 -m pip install pytest %/packaging/python",
  },
  junit: {
    example: "junit5",
    test: "WhoamiTest.java",
    to: "src/test/java/WhoamiTest.java",
    needs: ["svc-sandbox-junit5"],
    files: ["pom.xml", "build.gradle", "build.gradle.kts"],
    run: "mvn test -Dsvc-sandbox.min-coverage=80",
    install: "mvn --file %/packaging/java install",
  },
  go: {
    example: "go",
    test: "whoami_test.go",
    to: "whoami/whoami_test.go",
    needs: [goModule],
    files: ["go.mod"],
    run: "SVC_SANDBOX_MIN_COVERAGE=80 go test ./whoami",
    // In lines that no terminal breaks: each is pasted.
    install: `module=${goModule}\n  go mod edit -require=$module@v${version}\n  go mod edit -replace=$module=%/packaging/go`,
  },
};

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw usageError(
    `Invalid ${from}: ${quote(text)}. First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. docs/test-runners.md in the package has recipes.`,
  );
}

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, if the project has what they need; with --agent a section for coding agents. Does not overwrite a file without --force.",
  words: { "[file]": "the file to write (default: svc-sandbox.yaml, which start finds automatically)" },
  flags: {
    force: flag.force,
    client: flag.plainOption(
      "--client <kind>",
      `write first tests of a client: ${clientKinds.join(", ")}`,
      readClient,
    ),
    agent: flag.plainToggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
    ),
    quiet: flag.quiet("only errors"),
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client pytest": "first tests",
    "svc-sandbox init --agent": "a section in AGENTS.md",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run({ words, flags, io }) {
    if (flags.client === undefined && !flags.agent) {
      writeStarter(words[0] ?? ownScenario, flags, io);
      return;
    }

    const notes: string[] = [];
    if (flags.client !== undefined) notes.push(...(await writeClientFiles(flags.client, io, flags)));
    if (flags.agent) notes.push(...(await writeAgentSection(io.cwd)));
    if (!flags.quiet) io.stderr.say(notes.map((line) => `${line}\n`).join(""));
  },
});

interface WriteFlags {
  readonly force?: boolean;
  readonly quiet?: boolean;
}

/** The schema's path in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. */
function writeStarter(name: string, flags: WriteFlags, io: Io): void {
  if (/\.json\w?$/i.test(name)) {
    const yamlName = name.replace(/json\w?$/i, "yaml");
    throw usageError(`The starter is YAML with comments, and JSON has none. Name ${quoteFile(yamlName)}.`);
  }

  const file = newFile(name, io.cwd, flags);
  // The starter names its schema by a path.
  const installed = installedFile(dirname(file), "dist/scenario.schema.json");
  write(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);

  // Editors use it for completion and checks. An existing copy may be the user's.
  const copy = join(dirname(file), schemaCopy);
  if (installed === undefined && (flags.force || !existsSync(copy))) {
    write(copy, `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`, name);
  }

  if (flags.quiet) return;
  const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
  const start = name === ownScenario ? io.program : `${io.program} ${asFileArgument(name)}`;
  io.stderr.say(`Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
}

async function writeClientFiles(kind: ClientKind, io: Io, flags: WriteFlags): Promise<string[]> {
  const { example, test, to, script, run } = clients[kind];
  // Everything that can fail comes before the first file is written.
  const project = script === undefined ? undefined : await withScript(io.cwd, script);
  await checkNeeds(kind, io);
  const file = newFile(to, io.cwd, flags);

  write(file, await packageFile(`examples/${example}/${test}`));
  if (project === undefined) return [`Wrote ${to}.`, `Run it with: ${run}`];
  if (!project.isAdded) {
    return [
      `Wrote ${to}. The script test:sandbox is unchanged.`,
      `Run it with: ${io.program} ${project.words}`,
    ];
  }
  write(join(io.cwd, "package.json"), project.text);
  return [`Wrote ${to}, and the script test:sandbox.`, `Run it with: ${run}`];
}

/** The tests of `init` in a folder that nobody has changed since. */
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

/** Throws a usage error with what to install, if a project lacks what the tests need. */
async function checkNeeds(kind: ClientKind, io: Io): Promise<void> {
  const { files } = clients[kind];
  const existing = files.filter((name) => existsSync(join(io.cwd, name)));
  const missing = await missingNeeds(kind, existing, io);
  if (missing.length === 0) return;

  let lack = "which python3 does not find";
  if (existing.length > 0) lack = `which ${existing[0]} does not have`;
  else if (files.length > 0) lack = `and there is no ${files[0]} here`;
  const needed = listed(missing, "and").replaceAll('"', "");
  const steps = await installSteps(kind, existing, missing, io);
  throw usageError(`Nothing was written: the tests need ${needed}, ${lack}.\n\n${steps.join("\n\n")}`);
}

async function missingNeeds(kind: ClientKind, existing: readonly string[], io: Io): Promise<string[]> {
  const { cwd, env } = io;
  const { needs } = clients[kind];
  if (kind === "pytest") {
    // Python itself shows what it finds, also in a virtual environment.
    const python = spawnSync("python3", ["-c", "import svc_sandbox.pytest_plugin"], { cwd, env });
    return python.status === 0 ? [] : [...needs];
  }
  const texts = await Promise.all(existing.map((name) => readFile(join(cwd, name), "utf8")));
  const text = texts.join("\n");
  return needs.filter((need) => !text.includes(need));
}

/** The paragraphs about what to do before the tests of a client can be written. */
async function installSteps(
  kind: ClientKind,
  existing: readonly string[],
  missing: readonly string[],
  io: Io,
): Promise<string[]> {
  const { needs, files, install } = clients[kind];
  const file = existing[0] ?? files[0];
  const installed = installedFile(io.cwd, "package.json");
  const isOfNode = needs.includes(thisPackage);
  // A project of Node must name it itself, also if a folder above has it.
  const lacksPackage = isOfNode ? missing.includes(thisPackage) : installed === undefined;
  // A machine with the single executable may have no npm.
  const usesTar = isExecutable() && !isOfNode;

  const commands: string[] = [];
  if (lacksPackage) {
    const unpack = usesTar ? "tar -xzf" : "npm install --save-dev";
    commands.push(`${unpack} ./svc-sandbox-${version}.tgz`);
  }
  if (file === "go.mod" && existing.length === 0) commands.push("go mod init example.com/client");
  if (install !== undefined && missing.some((need) => need !== thisPackage)) {
    let folder = usesTar ? "./package" : "./node_modules/svc-sandbox";
    if (installed !== undefined) folder = dirname(installed);
    commands.push(install.replace("%", folder));
  }

  const steps: string[] = [];
  const toPutIn = kind === "junit" ? await pomPart(existing.length > 0) : undefined;
  if (toPutIn) steps.push(`Put this into ${file}:`, toPutIn);
  const what = toPutIn ? "the jar" : "it";
  const from = lacksPackage ? ", with the file of npm pack (there is no release yet)" : "";
  steps.push(`Install ${what}${from}:`);
  steps.push(commands.map((line) => `  ${line}`).join("\n"));
  steps.push(`Then run this again: ${io.program} init --client ${kind}`);
  if (kind === "junit") steps.push("No Maven, no Gradle: docs/test-runners.md#junit-5 in the package.");
  return steps;
}

/** The example's pom.xml; for a project that has a file of its own, only the dependency in it. */
async function pomPart(hasFile: boolean): Promise<string | undefined> {
  const pom = String(await packageFile("examples/junit5/pom.xml")).trimEnd();
  if (!hasFile) return pom;
  return /^ *<dependency>[\s\S]*?<\/dependency>$/m.exec(pom)?.[0];
}

interface ProjectScript {
  /** The text of package.json with the script. */
  readonly text: string;
  /** The words of the script behind the program. */
  readonly words: string;
  /** Whether the text has it: another script of its name stays. */
  readonly isAdded: boolean;
}

/** Adds a script to package.json that runs the command with a sandbox. */
async function withScript(cwd: string, command: string): Promise<ProjectScript> {
  const file = join(cwd, "package.json");
  const before = existsSync(file) ? await readFile(file, "utf8") : "{}";
  const project = parsedJson(before);
  if (!isMapping(project)) throw usageError(`Nothing was written: ${quoteFile(file)} is not valid JSON.`);

  const words = `exec key-states --fail-on warning -- ${command}`;
  const line = `svc-sandbox ${words}`;
  const scripts = { "test:sandbox": line, ...(project.scripts as object | undefined) };
  // The file keeps its indentation, and another script of this name.
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(before) ?? [];
  const text = `${JSON.stringify({ ...project, scripts }, null, indent)}\n`;
  return { text, words, isAdded: scripts["test:sandbox"] === line };
}

const heading = "## svc-sandbox";

async function writeAgentSection(cwd: string): Promise<string[]> {
  // Other sections of the file stay.
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  if (before.includes(heading)) {
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  }

  // Without an installed package, a copy stands next to the file.
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined) {
    const ofPackage = String(await packageFile("AGENTS.md"));
    write(resolve(cwd, copy), withoutNpx(ofPackage));
  }

  const section = withoutNpx(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  write(file, before === "" ? section : `${before.trimEnd()}\n\n${section}`);
  return [`Added a section to AGENTS.md.`];
}

// A machine with the single executable may have no npx.
function withoutNpx(text: string): string {
  if (!isExecutable()) return text;
  return text.replaceAll("npx --no-install ", "");
}

/** Makes the folder too, unless the user has named it. */
function write(file: string, text: string | Buffer, name?: string): void {
  try {
    if (name === undefined) makeFolder(dirname(file));
    writeFileAtomically(file, text, 0o666);
  } catch (error) {
    unwritable(quoteFile(name ?? file))(error);
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
