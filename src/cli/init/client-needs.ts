import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../node/package-files.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { listed } from "../../schema/words.js";
import { isExecutable } from "../executable.js";
import { usageError } from "../exit-codes.js";
import type { Io } from "../io.js";
import { type ClientKind, type ClientTests, clients, thisPackage } from "./client-tests.js";
import { installedFile, readProjectFile } from "./new-files.js";

/** A project that lacks something that the tests of a client need. */
interface IncompleteProject {
  readonly needs: ClientTests["needs"];
  /** The first file of the project that may name the needs; `undefined` if it has none. */
  readonly file: string | undefined;
  /** The needs that it lacks. */
  readonly missing: readonly string[];
  /** The folder of this package once it is installed. */
  readonly packageFolder: string;
  readonly packageStep: PackageStep;
}

/** How this package gets into a project that lacks it: npm installs it, or tar unpacks it. */
type PackageStep = "none" | "npm" | "tar";

/** Throws a usage error with what to install, if a project lacks what the tests of a client need. */
export async function requireNeeds(kind: ClientKind, io: Io): Promise<void> {
  const { needs } = clients[kind];
  const files = needs.files.filter((name) => existsSync(join(io.cwd, name)));
  const missing = await missingNeeds(needs, files, io);
  if (missing.length === 0) return;

  const [file] = files;
  const installed = installedFile(io.cwd, "package.json");
  const packageStep = packageStepOf(needs, missing, installed);
  const packageFolder = packageFolderOf(installed, packageStep);
  const steps = await installSteps({ needs, file, missing, packageFolder, packageStep });
  steps.push(`Then run this again: ${io.program} init --client ${kind}`);
  if (needs.otherWay !== undefined) steps.push(needs.otherWay);
  throw usageError(
    `Nothing was written: the tests need ${listed(missing, "and")}, ${whereMissing(needs, file)}.\n\n${steps.join("\n\n")}`,
  );
}

/** Where the needs were looked for, as the end of a sentence; `file` is the project's file that may name them. */
function whereMissing({ files }: ClientTests["needs"], file: string | undefined): string {
  if (file !== undefined) return `which ${file} does not have`;
  if (files.length > 0) return `and there is no ${files[0]} here`;
  // No file names the needs of a client in Python.
  return "which python3 does not find";
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
): PackageStep {
  // A project of Node must name it, also if a folder above has it.
  if (names.includes(thisPackage)) return missing.includes(thisPackage) ? "npm" : "none";
  if (installed !== undefined) return "none";
  // A machine with the single executable may have no npm, which only a project of Node needs.
  return isExecutable() ? "tar" : "npm";
}

/** The folder of this package once it is installed; `installed` is a file of it, if the project or a folder above has it now. */
function packageFolderOf(installed: string | undefined, packageStep: PackageStep): string {
  if (installed !== undefined) return dirname(installed);
  return packageStep === "tar" ? "./package" : "./node_modules/svc-sandbox";
}

/** The paragraphs about how to install what a project lacks. */
async function installSteps(project: IncompleteProject): Promise<string[]> {
  const { needs, file, packageStep } = project;
  const steps: string[] = [];
  if (needs.stepsInFile !== undefined) steps.push(...(await needs.stepsInFile(file)));

  const from = packageStep === "none" ? "" : ", with the file of npm pack (there is no release yet)";
  steps.push(`Install ${needs.whatToInstall}${from}:`);
  const commands = installCommands(project);
  steps.push(commands.map((line) => `  ${line}`).join("\n"));
  return steps;
}

/** The command lines that install this package, if a project lacks it, and what else the tests need. */
function installCommands({ needs, file, missing, packageFolder, packageStep }: IncompleteProject): string[] {
  const commands: string[] = [];
  if (packageStep === "npm") commands.push(`npm install --save-dev ./svc-sandbox-${version}.tgz`);
  if (packageStep === "tar") commands.push(`tar -xzf ./svc-sandbox-${version}.tgz`);
  if (file === undefined && needs.startProject !== undefined) commands.push(needs.startProject);
  const lacksMore = missing.some((name) => name !== thisPackage);
  if (lacksMore && needs.install !== undefined) commands.push(needs.install(packageFolder));
  return commands;
}
