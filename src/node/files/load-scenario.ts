import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { SandboxError } from "../../rules/errors.js";
import { escapeControls } from "../../rules/redact.js";
import { type Path, pathText } from "../../rules/schema/shape.js";
import { quote } from "../../rules/schema/words.js";
import { unknownNames } from "../../sandbox/start.js";
import { isScenarioName, scenarioNotFound } from "../../scenario/bundled.js";
import { besides, fileReferences } from "../../scenario/document-files.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import type { FoundPlace, ScenarioLookup } from "../../scenario/parse-scenario.js";
import { ScenarioError, type ScenarioMistake, type ScenarioProblem } from "../../scenario/problems.js";
import type { ScenarioText } from "../../scenario/read.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { withStory } from "../../scenario/stories.js";
import { endpointsFor, loadReader, nodePlatform } from "../platform.js";
import { fileFailure, readFailure } from "./write-file.js";

export interface LoadedScenario {
  readonly scenario: Scenario;
  readonly name: string;
  /** Absolute paths of its files, including those it extends; empty for a bundled scenario. */
  readonly files: readonly string[];
  /** The YAML of the file; left out if that extends another file. */
  readonly text?: string;
  readonly piped?: string;
}

export const stdinName = "-";

/** A bundled name wins, `./name` is a file. Throws `scenario_not_found`, `file_unreadable`, or a `ScenarioError`. */
export async function loadScenario(
  nameOrFile: string,
  {
    cwd = process.cwd(),
    signal,
    stdin,
    openapi,
  }: {
    cwd?: string;
    signal?: AbortSignal;
    stdin?: object | undefined;
    openapi?: Scenario["openapi"] | undefined;
  } = {},
): Promise<LoadedScenario> {
  if (nameOrFile === "")
    throw scenarioNotFound("", "its name is empty, perhaps from a variable that is not set");
  if (isScenarioName(nameOrFile)) {
    const bundled = withStory(nameOrFile);
    const scenario = openapi === undefined ? bundled : { ...bundled, openapi };
    await requireDocument(scenario);
    return { scenario, name: nameOrFile, files: [] };
  }
  if (escapeControls(nameOrFile) !== nameOrFile) {
    const why = "its name has a control character, or starts like a command of a CI log. Rename it";
    throw new SandboxError("file_unreadable", `Failed to read the scenario ${quote(nameOrFile)}: ${why}.`);
  }
  const isStdin = nameOrFile === stdinName && stdin !== undefined;
  // The types of this package must not need Node's.
  const reading = isStdin ? readStdin(stdin as Readable, signal) : undefined;
  const piped = await reading?.catch((error: NodeJS.ErrnoException) => {
    throw unreadable(error, nameOrFile, cwd);
  });
  const { text, file, load, files } = openScenarioFile(nameOrFile, cwd, piped);
  const { openScenario } = await import("../../scenario/parse-scenario.js");
  const written = openScenario(text, { file, load });
  const scenario = written.check(openapi);
  await requireDocument(scenario);
  const whole = files.length === 1 && openapi === undefined && { text };
  requireKnownNames(scenario, file, written.placeOf);
  if (isStdin) return { scenario, name: nameOrFile, files: files.slice(1), piped: text, ...whole };
  return { scenario, name: nameOrFile, files, ...whole };
}

export function requireKnownNames(
  scenario: Scenario,
  file: string,
  placeOf: (path: Path) => FoundPlace | undefined,
): void {
  const unknown = unknownNames(scenario, nodePlatform);
  if (unknown.length === 0) return;
  throw new ScenarioError(unknown.map((mistake) => problemAt(mistake, file, placeOf(mistake.path))));
}

export function problemAt(
  { code, path, message, hint }: ScenarioMistake,
  file: string,
  found: FoundPlace | undefined,
): ScenarioProblem {
  const { file: from = file, ...place } = found ?? {};
  return { code, path: pathText(path), message, ...(hint !== undefined && { hint }), file: from, ...place };
}

export async function requireDocument(scenario: Scenario): Promise<void> {
  if (scenario.openapi === undefined) return;
  await loadReader();
  endpointsFor(scenario);
}

/** Reads a document, and the files that its references name in its folder. */
export function openApiFile(name: string, cwd: string): ScenarioText {
  const file = resolve(cwd, name);
  const text = readScenarioFile(file, name, cwd, "document");
  const folder = realpathSync(dirname(file));
  const files: Record<string, string> = {};
  let room = scenarioLimits.bytesOfDocument - text.length;
  const readNamed = (from: string, content: string) => {
    for (const target of fileReferences(content)) {
      const named = besides(from, target);
      const path = resolve(folder, named);
      if (Object.hasOwn(files, named) || path === file || !isInside(folder, path)) continue;
      files[named] = readScenarioFile(path, named, folder, "document");
      room -= files[named].length;
      if (room < 0) throw new SandboxError("file_unreadable", documentTooLarge(name));
      readNamed(named, files[named]);
    }
  };
  readNamed("", text);
  return { file: name, text, ...(Object.keys(files).length > 0 && { files }) };
}

const documentTooLarge = (name: string) =>
  `Failed to read the document ${JSON.stringify(name)}: its files have more than ${scenarioLimits.bytesOfDocument / 2 ** 20} MiB. Remove operations that your client does not call.`;

/** Whether a path leads to a file in this folder, also after its links. */
function isInside(folder: string, path: string): boolean {
  return existsSync(path) && realpathSync(path).startsWith(folder + sep) && statSync(path).isFile();
}

/** `load` reads the files that it extends, and `files` collects all paths. */
export function openScenarioFile(nameOrFile: string, cwd: string, text?: string) {
  const file = resolve(cwd, nameOrFile);
  const files = [file];
  const load: ScenarioLookup = (name, from = file, kind = "scenario") => {
    const base = resolve(dirname(resolve(cwd, from)), name);
    files.push(base);
    if (kind === "document") return openApiFile(base, dirname(file));
    return { text: readScenarioFile(base, name, dirname(file)), file: base };
  };
  return { text: text ?? readScenarioFile(file, nameOrFile, cwd), file: nameOrFile, load, files };
}

async function readStdin(stdin: Readable, signal: AbortSignal | undefined): Promise<string> {
  if (signal !== undefined) addAbortSignal(signal, stdin);
  return textOfBytes(await buffer(stdin));
}

// The parser rejects anything but text, and a file that is too large.
function readScenarioFile(file: string, given: string, folder: string, what = "scenario"): string {
  try {
    const stats = statSync(file);
    // Would wait for a writer and block signals.
    if (stats.isFIFO()) throw new Error("it is a pipe; use - for a scenario from stdin");
    if (!stats.isFile() && !stats.isDirectory()) throw new Error("it is not a regular file");
    const max = scenarioLimits[what === "scenario" ? "bytes" : "bytesOfDocument"] + 1;
    return textOfBytes(readStart(file, Math.min(max, stats.size || max)));
  } catch (error) {
    if (what === "scenario") throw unreadable(error as NodeJS.ErrnoException, given, folder);
    const why = readFailure(error);
    throw new SandboxError("file_unreadable", `Failed to read the ${what} ${JSON.stringify(given)}: ${why}.`);
  }
}

// A file system may return a part at each read, and the size of some files is 0.
function readStart(file: string, max: number): Uint8Array {
  const bytes = new Uint8Array(max);
  const descriptor = openSync(file, "r");
  try {
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0; length += bytesRead)
      bytesRead = readSync(descriptor, bytes, length, max - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function unreadable(error: NodeJS.ErrnoException, given: string, folder: string): SandboxError {
  if (error.code !== "ENOENT") {
    const message = `Failed to read the scenario ${JSON.stringify(given)}: ${fileFailure(error)}.`;
    return new SandboxError("file_unreadable", message);
  }
  const withOtherEnd = given.endsWith(".yml")
    ? given.replace(/yml$/, "yaml")
    : given.replace(/\.yaml$/, ".yml");
  const isThere = withOtherEnd !== given && existsSync(resolve(folder, withOtherEnd));
  return scenarioNotFound(
    given,
    "it is neither a file nor a bundled name",
    isThere ? withOtherEnd : undefined,
  );
}

/** The text of a file or a request's body. Bytes that are not UTF-8 become a character that no text has, which is a problem with its place. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\uFFFD", "\u0000");
  }
}
