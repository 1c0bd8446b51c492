import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { version } from "../../node/package-files.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { listed } from "../../schema/words.js";
import { isExecutable } from "../executable.js";
import { usageError } from "../exit-codes.js";
import type { Io } from "../io.js";
import { type ClientKind, type ClientTests, clients, thisPackage } from "./client-tests.js";
import { installedFile } from "./new-files.js";

/** A project that lacks something that the tests of a client need. */
interface LackingProject {
  readonly needs: ClientTests["needs"];
  /** The first file of the project that may name the needs; `undefined` if it has none. */
  readonly file: string | undefined;
  /** The needs that it lacks. */
  readonly missing: readonly string[];
  /** The folder of the installed package; `undefined` if neither the project nor a folder above has it. */
  readonly packageFolder: string | undefined;
}

/** Throws a usage error with what to install, if a project lacks what the tests of a client need. */
export async function requireNeeds(kind: ClientKind, io: Io): Promise<void> {
  const { needs } = clients[kind];
  const files = needs.files.filter((name) => existsSync(join(io.cwd, name)));
  const missing = await missingNeeds(needs, files, io);
  if (missing.length === 0) return;

  const [file] = files;
  let lack = "which python3 does not find";
  if (file !== undefined) lack = `which ${file} does not have`;
  else if (needs.files.length > 0) lack = `and there is no ${needs.files[0]} here`;

  const installed = installedFile(io.cwd, "package.json");
  const project = { needs, file, missing, packageFolder: installed && dirname(installed) };
  const steps = await installSteps(project);
  steps.push(`Then run this again: ${io.program} init --client ${kind}`);
  if (needs.otherWay !== undefined) steps.push(needs.otherWay);
  throw usageError(
    `Nothing was written: the tests need ${listed(missing, "and")}, ${lack}.\n\n${steps.join("\n\n")}`,
  );
}

/** The needs that a project with these files lacks. */
async function missingNeeds(
  { names, shownBy }: ClientTests["needs"],
  files: readonly string[],
  { cwd, env }: Io,
): Promise<readonly string[]> {
  if (shownBy === "python") {
    // Python itself is asked what it finds, also in a virtual environment.
    const python = spawnSync("python3", ["-c", "import svc_sandbox.pytest_plugin"], { cwd, env });
    return python.status === 0 ? [] : names;
  }

  const texts = await Promise.all(files.map((name) => readFile(join(cwd, name), "utf8")));
  if (shownBy === "text_of_files") return names.filter((name) => !texts.some((text) => text.includes(name)));
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

/** The paragraphs about how to install what a project lacks. */
async function installSteps(project: LackingProject): Promise<string[]> {
  const { needs, file } = project;
  const steps: string[] = [];
  if (needs.stepsInFile !== undefined) steps.push(...(await needs.stepsInFile(file)));

  const from = lacksPackage(project) ? ", with the file of npm pack (there is no release yet)" : "";
  steps.push(`Install ${needs.installed}${from}:`);
  const commands = installCommands(project);
  steps.push(commands.map((line) => `  ${line}`).join("\n"));
  return steps;
}

/** Whether this package has to be installed. A project of Node must name it, also if a folder above has it. */
function lacksPackage({ needs, missing, packageFolder }: LackingProject): boolean {
  if (needs.names.includes(thisPackage)) return missing.includes(thisPackage);
  return packageFolder === undefined;
}

/** The command lines that install this package, if a project lacks it, and what else the tests need. */
function installCommands(project: LackingProject): string[] {
  const { needs, file, missing, packageFolder } = project;
  // A machine with the single executable may have no npm, which only a project of Node needs.
  const unpacksItself = isExecutable() && !needs.names.includes(thisPackage);
  const unpack = unpacksItself ? "tar -xzf" : "npm install --save-dev";
  const unpackedFolder = unpacksItself ? "./package" : "./node_modules/svc-sandbox";

  const commands: string[] = [];
  if (lacksPackage(project)) commands.push(`${unpack} ./svc-sandbox-${version}.tgz`);
  if (file === undefined && needs.startProject !== undefined) commands.push(needs.startProject);
  const lacksMore = missing.some((name) => name !== thisPackage);
  if (lacksMore && needs.install !== undefined) {
    commands.push(needs.install.replace("%", () => packageFolder ?? unpackedFolder));
  }
  return commands;
}
