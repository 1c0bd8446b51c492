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
import { ownScenario, startable } from "../open-scenario.js";

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
  const kind = clientKinds.find((one) => one === text);
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
    if (flags.client !== undefined || flags.agent) {
      const notes = [
        ...(flags.client === undefined ? [] : await writeClientFiles(flags.client, io, flags)),
        ...(flags.agent ? await writeAgentSection(io.cwd) : []),
      ];
      if (!flags.quiet) io.stderr.say(notes.map((line) => `${line}\n`).join(""));
      return undefined;
    }
    const [name = ownScenario] = words;
    if (/\.json\w?$/i.test(name))
      throw usageError(
        `The starter is YAML with comments, and JSON has none. Name ${quoteFile(name.replace(/json\w?$/i, "yaml"))}.`,
      );
    const file = newFile(name, io.cwd, flags);
    const installed = installedFile(dirname(file), "dist/scenario.schema.json");
    write(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);
    // Editors use it for completion and checks. An existing copy may be the user's.
    const copy = join(dirname(file), schemaCopy);
    if (installed === undefined && (flags.force === true || !existsSync(copy)))
      write(copy, `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`, name);
    if (flags.quiet !== true) {
      const start = io.program + (name === ownScenario ? "" : ` ${startable(name)}`);
      const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
      io.stderr.say(`Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
    }
  },
});

/** The schema's path in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

async function writeClientFiles(
  kind: ClientKind,
  io: Io,
  force: { readonly force?: boolean },
): Promise<string[]> {
  const { example, test, to, script, run } = clients[kind];
  const project = script === undefined ? undefined : await withScript(io.cwd, script);
  await checkNeeds(kind, io);
  const file = newFile(to, io.cwd, force);
  write(file, await packageFile(`examples/${example}/${test}`));
  if (project === undefined) return [`Wrote ${to}.`, `Run it with: ${run}`];
  const { text, words, isAdded } = project;
  if (isAdded) write(join(io.cwd, "package.json"), text);
  return isAdded
    ? [`Wrote ${to}, and the script test:sandbox.`, `Run it with: ${run}`]
    : [`Wrote ${to}. The script test:sandbox is unchanged.`, `Run it with: ${io.program} ${words}`];
}

/** The tests of `init` in a folder that nobody has changed since. */
export async function untouchedTests(cwd: string): Promise<string[]> {
  const files = await Promise.all(
    Object.values(clients).map(async ({ example, test, to }) => {
      const file = join(cwd, to);
      const isThere =
        existsSync(file) && (await packageFile(`examples/${example}/${test}`)).equals(await readFile(file));
      return isThere ? [to] : [];
    }),
  );
  return files.flat();
}

async function checkNeeds(kind: ClientKind, { cwd, env, program }: Io): Promise<void> {
  const { needs, files, install } = clients[kind];
  const existing = files.filter((name) => existsSync(join(cwd, name)));
  const texts = await Promise.all(existing.map((name) => readFile(join(cwd, name), "utf8")));
  // Python itself shows what it finds, also in a virtual environment.
  const python = () => spawnSync("python3", ["-c", "import svc_sandbox.pytest_plugin"], { cwd, env });
  const hasNeed = (need: string) =>
    kind === "pytest" ? python().status === 0 : texts.some((text) => text.includes(need));
  const missing = needs.filter((need) => !hasNeed(need));
  if (missing.length === 0) return;
  const [file = files[0]] = existing;
  const lack = existing.length > 0 ? `which ${file} does not have` : file && `and there is no ${file} here`;
  const pom = kind === "junit" ? String(await packageFile("examples/junit5/pom.xml")).trimEnd() : "";
  const part = existing.length === 0 ? pom : /^ *<dependency>[\s\S]*?<\/dependency>$/m.exec(pom)?.[0];
  const installed = installedFile(cwd, "package.json");
  const isOfNode = needs.includes(thisPackage);
  // A machine with the single executable may have no npm.
  const [how, at] =
    isExecutable() && !isOfNode
      ? ["tar -xzf", "./package"]
      : ["npm install --save-dev", "./node_modules/svc-sandbox"];
  const unpacked = installed === undefined ? at : dirname(installed);
  // A project of Node must name it itself, also if a folder above has it.
  const lacksPackage = isOfNode ? missing.includes(thisPackage) : installed === undefined;
  const needsMore = install !== undefined && missing.some((need) => need !== thisPackage);
  const lines = [
    ...(lacksPackage ? [`${how} ./svc-sandbox-${version}.tgz`] : []),
    ...(file === "go.mod" && existing.length === 0 ? ["go mod init example.com/client"] : []),
    ...(needsMore ? [install.replace("%", unpacked)] : []),
  ];
  const from = lacksPackage ? ", with the file of npm pack (there is no release yet)" : "";
  const steps = [
    ...(part ? [`Put this into ${file}:`, `${part}`] : []),
    `Install ${part ? "the jar" : "it"}${from}:`,
    lines.map((line) => `  ${line}`).join("\n"),
    `Then run this again: ${program} init --client ${kind}`,
    ...(kind === "junit" ? ["No Maven, no Gradle: docs/test-runners.md#junit-5 in the package."] : []),
  ];
  throw usageError(
    `Nothing was written: the tests need ${listed(missing, "and").replaceAll('"', "")}, ${lack ?? "which python3 does not find"}.\n\n${steps.join("\n\n")}`,
  );
}

/** Returns the text of package.json with a script that runs the command, and the words of the script; another one that is there stays. */
async function withScript(cwd: string, command: string) {
  const file = join(cwd, "package.json");
  const before = existsSync(file) ? await readFile(file, "utf8") : "{}";
  const project = parsedJson(before);
  if (!isMapping(project)) throw usageError(`Nothing was written: ${quoteFile(file)} is not valid JSON.`);
  const words = `exec key-states --fail-on warning -- ${command}`;
  const line = `svc-sandbox ${words}`;
  const scripts = { "test:sandbox": line, ...(project.scripts as object | undefined) };
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(before) ?? [];
  const text = `${JSON.stringify({ ...project, scripts }, null, indent)}\n`;
  return { text, words, isAdded: scripts["test:sandbox"] === line };
}

const heading = "## svc-sandbox";

async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  if (before.includes(heading))
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  // A machine with the single executable may have no npx.
  const startable = (text: string) => (isExecutable() ? text.replaceAll("npx --no-install ", "") : text);
  if (installed === undefined) write(resolve(cwd, copy), startable(String(await packageFile("AGENTS.md"))));
  const section = startable(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  write(file, before === "" ? section : `${before.trimEnd()}\n\n${section}`);
  return [`Added a section to AGENTS.md.`];
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
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/svc-sandbox", name);
    if (existsSync(path))
      return relative(folder, path)
        .replaceAll("\\", "/")
        .replace(/^(?!\.)/, "./");
    if (at === dirname(at)) return undefined;
  }
}

function newFile(name: string, cwd: string, { force = false }: { force?: boolean | undefined }): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quoteFile(name)} is a folder. Name a file.`);
  if (force) return file;
  throw new SandboxError(
    "file_exists",
    `${quoteFile(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}
