import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, parse, relative } from "node:path";
import { makeFolder } from "../node/files/write-file.js";
import { packageFile, repository, version } from "../node/package-files.js";
import { shellWord } from "../report/curl-line.js";
import { tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { listed, quote, quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import { cliOnlyOption } from "./flags.js";
import { type Io, isExecutable } from "./io.js";
import { installedFile, newFile, readProjectFile, writeProjectFile } from "./project-files.js";
import { docsPlace } from "./running-sandbox.js";

/** Writes the first tests of a client into a file. Resolves to the lines that say what was written. */
export async function writeClientTests(
  kind: ClientKind,
  chosenName: string | undefined,
  io: Io,
  flags: { readonly force?: boolean },
): Promise<string[]> {
  const { example, exampleFile, writtenTo, script, runCommand, endings } = clients[kind];
  const name = chosenName ?? writtenTo;
  // What is wrong with the project or the call shows before the first file is written: the file may be meant for a scenario.
  if (!endings.some((ending) => name.endsWith(ending))) {
    throw usageError(
      `First tests of ${kind} cannot be written to ${quoteFile(name)}: its name must end with ${listed(endings, "or")}. For a scenario, leave out --client.`,
    );
  }
  const packageScript = script === undefined ? undefined : await packageJsonWithScript(script, io.cwd);
  await requireNeeds(kind, io);
  const file = newFile(name, io.cwd, flags);

  const text = await packageFile(`examples/${example}/${exampleFile}`);
  try {
    makeFolder(dirname(file));
  } catch (cause) {
    throw unwritable(cause, quoteFile(file));
  }
  writeProjectFile(file, text, name);
  const folder = relative(io.cwd, dirname(file));
  const testFolder = folder === "" ? "." : shellWord(`./${folder}`);
  const run = runCommand(testFolder);
  // A client without npm, such as one in Python, has no script.
  if (packageScript === undefined) return [`Wrote ${name}.`, `Run it with: ${run}`];
  // The project has its own script of this name.
  if (!packageScript.isOurScript) {
    return [
      `Wrote ${name}. The script test:sandbox is unchanged.`,
      `Run it with: ${io.program} ${packageScript.execLine}`,
    ];
  }
  writeProjectFile(join(io.cwd, "package.json"), packageScript.packageJson);
  return [`Wrote ${name}, and the script test:sandbox.`, `Run it with: ${run}`];
}

/** The script `test:sandbox` of a project. */
interface ProjectScript {
  /** The text of package.json with the script, which the caller writes. */
  readonly packageJson: string;
  /** The command line of the script, without the program. */
  readonly execLine: string;
  /** Whether the script of this name is ours: another one, which the project had before, stays. */
  readonly isOurScript: boolean;
}

/** Reads package.json, and adds the script that runs a command with a sandbox to its text. Writes nothing. */
async function packageJsonWithScript(command: string, cwd: string): Promise<ProjectScript> {
  const file = join(cwd, "package.json");
  const before = (await readProjectFile(cwd, "package.json")) ?? "{}";
  // Some editors on Windows write a byte order mark, which npm reads over.
  const [mark = ""] = /^\uFEFF/.exec(before) ?? [];
  const project = tryParseJson(before.slice(mark.length));
  if (project === undefined) throw usageError(`Nothing was written: ${quoteFile(file)} is not valid JSON.`);
  if (!isMapping(project)) {
    throw usageError(
      `Nothing was written: ${quoteFile(file)} is not an object, which a package.json must be.`,
    );
  }

  const { scripts: ownScripts = {} } = project;
  if (!isMapping(ownScripts)) {
    throw usageError(
      `Nothing was written: scripts in ${quoteFile(file)} is not an object, which a package.json must have there.`,
    );
  }

  const execLine = `exec key-states --fail-on warning -- ${command}`;
  const line = `svc-sandbox ${execLine}`;
  // Another script of this name comes later, and so it stays.
  const scripts = { "test:sandbox": line, ...ownScripts };
  // The file keeps its indentation and its line ends.
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(before) ?? [];
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const json = `${JSON.stringify({ ...project, scripts }, null, indent)}\n`;
  const packageJson = `${mark}${json.replaceAll("\n", lineEnd)}`;
  return { packageJson, execLine, isOurScript: scripts["test:sandbox"] === line };
}

/** Throws a usage error with what to install, if a project lacks what the tests of a client need. */
async function requireNeeds(kind: ClientKind, io: Io): Promise<void> {
  const { needs } = clients[kind];
  const files = needs.files.filter((name) => existsSync(join(io.cwd, name)));
  const missing = await missingNeeds(needs, files, io);
  if (missing.length === 0) return;

  const [file] = files;
  const steps: string[] = [];
  if (needs.stepsInFile !== undefined) steps.push(...(await needs.stepsInFile(file)));

  // How this package gets into the project: npm installs it, or tar unpacks it.
  const installed = installedFile(io.cwd, "package.json");
  const packageStep = packageStepOf(needs, missing, installed);
  let packageFolder = packageStep === "tar" ? "./package" : "./node_modules/svc-sandbox";
  if (installed !== undefined) packageFolder = dirname(installed);

  const commands: string[] = [];
  if (packageStep === "npm") commands.push(`npm install --save-dev ./svc-sandbox-${version}.tgz`);
  if (packageStep === "tar") commands.push(`tar -xzf ./svc-sandbox-${version}.tgz`);
  if (file === undefined && needs.startProject !== undefined) commands.push(needs.startProject);
  const lacksMore = missing.some((name) => name !== thisPackage);
  if (lacksMore && needs.install !== undefined) commands.push(needs.install(packageFolder));

  const from = packageStep === "none" ? "" : ", with the file of npm pack (there is no release yet)";
  steps.push(`Install ${needs.whatToInstall}${from}:`);
  steps.push(commands.map((line) => `  ${line}`).join("\n"));
  steps.push(`Then run this again: ${io.program} init --client ${kind}`);
  if (needs.otherWay !== undefined) steps.push(needs.otherWay);

  // No file names the needs of a client in Python.
  let where = "which python3 does not find";
  if (file !== undefined) where = `which ${file} does not have`;
  else if (needs.files.length > 0) where = `and there is no ${needs.files[0]} here`;
  throw usageError(
    `Nothing was written: the tests need ${listed(missing, "and")}, ${where}.\n\n${steps.join("\n\n")}`,
  );
}

/** The needs that a project with these files lacks. */
async function missingNeeds(
  { names, whereNamed }: ClientTests["needs"],
  files: readonly string[],
  { cwd, env }: Io,
): Promise<readonly string[]> {
  if (whereNamed === "python") {
    // Python itself is asked what it finds, also in a virtual environment.
    const python = spawnSync("python3", ["-c", "import svc_sandbox.pytest_plugin"], { cwd, env });
    return python.status === 0 ? [] : names;
  }

  const texts: string[] = [];
  for (const name of files) texts.push((await readProjectFile(cwd, name)) ?? "");
  if (whereNamed === "text_of_files") {
    return names.filter((name) => !texts.some((text) => text.includes(name)));
  }
  const dependencies = texts.flatMap(dependenciesIn);
  return names.filter((name) => !dependencies.includes(name));
}

/** The names of all dependencies in the text of a package.json. */
function dependenciesIn(text: string): string[] {
  // Some editors on Windows write a byte order mark, which npm reads over.
  const project = tryParseJson(text.replace(/^\uFEFF/, ""));
  const names: string[] = [];
  if (!isMapping(project)) return names;
  for (const member of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]) {
    const dependencies = project[member];
    if (isMapping(dependencies)) names.push(...Object.keys(dependencies));
  }
  return names;
}

/** How a project gets this package; `installed` is a file of it in the project or a folder above, if there is one. */
function packageStepOf(
  { names }: ClientTests["needs"],
  missing: readonly string[],
  installed: string | undefined,
): "none" | "npm" | "tar" {
  // A project of Node must name it, also if a folder above has it.
  if (names.includes(thisPackage)) return missing.includes(thisPackage) ? "npm" : "none";
  if (installed !== undefined) return "none";
  // A machine with the single executable may have no npm, which only a project of Node needs.
  return isExecutable() ? "tar" : "npm";
}

const clientKinds = ["vitest", "jest", "node", "pytest", "junit", "go"] as const;
type ClientKind = (typeof clientKinds)[number];

/** The flag `--client` of `init`. */
export const clientFlag = cliOnlyOption(
  "--client <kind>",
  `write first tests of a client: ${clientKinds.join(", ")}`,
  readClient,
);

/** The kinds of clients by other names that people give them. */
const otherKinds: Readonly<Record<string, ClientKind>> = {
  python: "pytest",
  java: "junit",
  junit5: "junit",
  golang: "go",
  nodejs: "node",
  "node.js": "node",
};

/** The kind that a word means, in any case; `undefined` if it means none. */
export function meantClient(word: string): ClientKind | undefined {
  const name = word.toLowerCase();
  const kind = clientKinds.find((known) => known === name);
  if (kind !== undefined) return kind;
  return Object.hasOwn(otherKinds, name) ? otherKinds[name] : undefined;
}

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  const meant = meantClient(text);
  const hint = meant === undefined ? "" : ` Did you mean ${quote(meant)}?`;
  throw usageError(
    `Invalid ${from}: ${quote(text)}.${hint} First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. Recipes: ${docsPlace("languages")}.`,
  );
}

/** The first tests of a kind of client, and what a project needs for them. */
interface ClientTests {
  /** The folder in `examples`. */
  readonly example: string;
  /** The file in this folder. */
  readonly exampleFile: string;
  /** The file in the user's project, if the call names no other one. */
  readonly writtenTo: string;
  /** How the names of such files end, so that their runner finds and reads them. */
  readonly endings: readonly string[];
  /** The command that the script `test:sandbox` runs with a sandbox. */
  readonly script?: string;
  /** The command line that runs the tests in a folder. */
  readonly runCommand: (testFolder: string) => string;
  readonly needs: ClientNeeds;
}

/** What the tests of a client need, and how to install it. */
interface ClientNeeds {
  /** The names of what they need. */
  readonly names: readonly string[];
  /** Where a project shows that it has them: in its dependencies, anywhere in the text of its files, or to Python. */
  readonly whereNamed: "package_json" | "text_of_files" | "python";
  /** The files of a project that may name them, the usual one first. */
  readonly files: readonly string[];
  /** The command line that starts a project without such a file. */
  readonly startProject?: string;
  /** What to write into such a file before the installation, as paragraphs; `file` is the project's own one. */
  readonly stepsInFile?: (file: string | undefined) => Promise<readonly string[]>;
  /** The command lines that install what they need besides this package, from the folder of this package. */
  readonly install?: (packageFolder: string) => string;
  /** What is installed, in a sentence. */
  readonly whatToInstall: "it" | "the jar";
  /** A sentence about another way. */
  readonly otherWay?: string;
}

/** The name of this package in the package.json of a project of Node. */
const thisPackage = "svc-sandbox";

/** What a project of Node needs: this package, and the runner of its tests. */
function needsOfNode(runner?: string): ClientNeeds {
  const names = [thisPackage];
  if (runner !== undefined) names.push(runner);
  return {
    names,
    whereNamed: "package_json",
    files: ["package.json"],
    whatToInstall: "it",
    ...(runner !== undefined && { install: () => `npm install --save-dev ${runner}` }),
  };
}

const nodeProject = { example: "exec", runCommand: () => "npm run test:sandbox" };
const goModule = `${repository.replace("https://", "")}/packaging/go`;

const clients: Readonly<Record<ClientKind, ClientTests>> = {
  vitest: {
    ...nodeProject,
    exampleFile: "whoami.test.js",
    writtenTo: "test/whoami.test.js",
    endings: [".js", ".mjs", ".ts", ".mts"],
    script: "vitest run",
    needs: needsOfNode("vitest"),
  },
  jest: {
    ...nodeProject,
    exampleFile: "whoami.jest.cjs",
    writtenTo: "test/whoami.test.cjs",
    endings: [".cjs", ".js"],
    script: "jest",
    needs: needsOfNode("jest"),
  },
  node: {
    ...nodeProject,
    exampleFile: "whoami.node.mjs",
    writtenTo: "test/whoami.test.mjs",
    endings: [".mjs", ".js"],
    script: "node --test",
    needs: needsOfNode(),
  },
  pytest: {
    example: "pytest",
    exampleFile: "test_whoami.py",
    writtenTo: "tests/test_whoami.py",
    endings: [".py"],
    runCommand: () => "python3 -m pytest --min-coverage 80",
    needs: {
      names: ["svc_sandbox"],
      whereNamed: "python",
      files: [],
      install: (folder) => `python3 -m pip install pytest ${folder}/packaging/python`,
      whatToInstall: "it",
    },
  },
  junit: {
    example: "junit5",
    exampleFile: "WhoamiTest.java",
    writtenTo: "src/test/java/WhoamiTest.java",
    endings: ["Test.java"],
    runCommand: () => "mvn test -Dsvc-sandbox.min-coverage=80",
    needs: {
      names: ["svc-sandbox-junit5"],
      whereNamed: "text_of_files",
      files: ["pom.xml", "build.gradle", "build.gradle.kts"],
      // The dependency for the project's own file; the whole pom.xml of the example if there is none.
      async stepsInFile(file) {
        const pom = String(await packageFile("examples/junit5/pom.xml")).trimEnd();
        if (file === undefined) return ["Put this into pom.xml:", pom];
        const [dependency = ""] = /^ *<dependency>[\s\S]*?<\/dependency>$/m.exec(pom) ?? [];
        return [`Put this into ${file}:`, dependency];
      },
      install: (folder) => `mvn --file ${folder}/packaging/java install`,
      whatToInstall: "the jar",
      otherWay: `No Maven, no Gradle: ${docsPlace("languages", "junit-5")}.`,
    },
  },
  go: {
    example: "go",
    exampleFile: "whoami_test.go",
    writtenTo: "whoami/whoami_test.go",
    endings: ["_test.go"],
    runCommand: (testFolder) => `SVC_SANDBOX_MIN_COVERAGE=80 go test ${testFolder}`,
    needs: {
      names: [goModule],
      whereNamed: "text_of_files",
      files: ["go.mod"],
      startProject: "go mod init example.com/client",
      // No terminal breaks lines as short as these, which are pasted.
      install: (folder) =>
        `module=${goModule}\n  go mod edit -require=$module@v${version}\n  go mod edit -replace=$module=${folder}/packaging/go`,
      whatToInstall: "it",
    },
  },
};

/**
 * The names of the tests in a folder that are as `init` has written them, and that have run: the command or its output names the
 * file, or the folder of a package of Go. Of other files, nobody knows.
 */
export async function untouchedTests(
  cwd: string,
  command: readonly string[],
  output: readonly string[],
): Promise<string[]> {
  const shown = [...command, ...output].join("\n");
  const untouched: string[] = [];
  for (const [kind, { example, exampleFile, writtenTo }] of Object.entries(clients)) {
    const { dir, base, name } = parse(writtenTo);
    // JUnit prints the class: `Running WhoamiTest`.
    let nameInOutput = base;
    if (kind === "junit") nameInOutput = name;
    if (kind === "go") nameInOutput = `/${dir}`;
    if (!shown.includes(nameInOutput)) continue;
    const file = join(cwd, writtenTo);
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
    if (!isFile) continue;
    const asWritten = await packageFile(`examples/${example}/${exampleFile}`);
    if (asWritten.equals(await readFile(file))) untouched.push(writtenTo);
  }
  return untouched;
}
