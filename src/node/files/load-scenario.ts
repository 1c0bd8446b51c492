import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, parse, resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { SandboxError } from "../../rules/errors.js";
import { requireFields, requireKnownOptions } from "../../rules/schema/check.js";
import { tagOf } from "../../rules/schema/shape.js";
import { nearest, quote, quoteFile } from "../../rules/schema/words.js";
import { escapeControls } from "../../rules/terminal-text.js";
import { isScenarioName, type ScenarioName, scenarioNotFound } from "../../scenario/bundled.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import type { LoadedScenario } from "../../scenario/parse-scenario.js";
import type { ScenarioPlaces } from "../../scenario/problems.js";
import { withStory } from "../../scenario/stories.js";
import { readBundledScenario } from "../package-files.js";
import { fileFailure, requireFile } from "./write-file.js";

export type { LoadedScenario };

/** A scenario with its places, which whoever runs it for long should not keep. */
export interface OpenedScenario {
  readonly loaded: LoadedScenario;
  readonly places: () => Promise<ScenarioPlaces>;
}

interface LoadOptions {
  cwd?: string | undefined;
  signal?: AbortSignal | undefined;
  stdin?: object | undefined;
}

export const stdinName = "-";

/**
 * A bundled name wins, `./name` is a file, as is a `file:` URL. What it returns is a scenario for `createSandbox` and `startServer`.
 *
 * Throws `scenario_not_found`, `file_unreadable`, or a `ScenarioError`; `validation_failed` for what is neither.
 */
export async function loadScenario(
  nameOrFile: string | URL,
  options: { readonly cwd?: string | URL } = {},
): Promise<LoadedScenario> {
  requireKnownOptions("load the scenario", options, ["cwd"]);
  const cwd = options.cwd === undefined ? undefined : nameOfFile(options.cwd, "load the scenario", "cwd");
  return (await openScenario(nameOfFile(nameOrFile, "load the scenario", "file"), { cwd })).loaded;
}

/** The name of a file or folder that a caller gives, also as a URL. Throws `validation_failed` for the field. */
export function nameOfFile(file: unknown, doing: string, field: string): string {
  if (typeof file === "string") return file;
  const isOfFile = tagOf(file) === "URL" && String(file).startsWith("file:");
  requireFields(doing, { [field]: isOfFile ? undefined : `is a name or a file: URL, not ${quote(file)}` });
  return fileURLToPath(file as URL); // its protocol is that of files
}

/** The same with the places of its fields. */
export async function openScenario(
  nameOrFile: string,
  { cwd = process.cwd(), signal, stdin }: LoadOptions,
): Promise<OpenedScenario> {
  if (nameOrFile === "")
    throw scenarioNotFound("", "its name is empty, perhaps from a variable that is not set");
  if (isScenarioName(nameOrFile)) return openBundled(nameOrFile);
  if (escapeControls(nameOrFile) !== nameOrFile) {
    const why = "its name has a control character, or starts like a command of a CI log. Rename it";
    throw new SandboxError(
      "file_unreadable",
      `Failed to read the scenario ${quoteFile(nameOrFile)}: ${why}.`,
    );
  }
  const isStdin = nameOrFile === stdinName && stdin !== undefined;
  // The types of this package must not need Node's.
  const reading = isStdin ? readStdin(stdin as Readable, signal) : undefined;
  const piped = await reading?.catch((error: NodeJS.ErrnoException) => {
    throw unreadable(error, nameOrFile, cwd);
  });
  const { text, load, files } = scenarioFiles(nameOrFile, cwd, piped);
  const { parseWithPlaces } = await import("../../scenario/parse-scenario.js");
  const { scenario, ...places } = parseWithPlaces(text, { file: nameOrFile, load });
  const whole = files.length === 1 && { text };
  const ofStdin = isStdin && { files: files.slice(1), piped: text };
  return {
    loaded: { scenario, name: nameOrFile, files, ...ofStdin, ...whole },
    places: async () => places,
  };
}

function openBundled(name: ScenarioName): OpenedScenario {
  return {
    loaded: { scenario: withStory(name), name, files: [] },
    async places() {
      const text = await readBundledScenario(name);
      // A bundled scenario does not need the reader of YAML.
      const { parseWithPlaces } = await import("../../scenario/parse-scenario.js");
      return parseWithPlaces(text, { file: `scenarios/${name}.yaml` });
    },
  };
}

/** The text of a file; `load` reads the files that it extends, and `files` collects all paths. */
export function scenarioFiles(nameOrFile: string, cwd: string, text?: string) {
  const file = resolve(cwd, nameOrFile);
  const files = [file];
  const load = (name: string, from = nameOrFile) => {
    // As in the files and on the command line, because messages show it.
    const base = isAbsolute(name) ? name : join(dirname(from), name);
    const path = resolve(cwd, base);
    files.push(path);
    return { text: readScenarioFile(path, name, dirname(file)), file: base };
  };
  return { text: text ?? readScenarioFile(file, nameOrFile, cwd), load, files };
}

async function readStdin(stdin: Readable, signal: AbortSignal | undefined): Promise<string> {
  if (signal !== undefined) addAbortSignal(signal, stdin);
  return textOfBytes(await buffer(stdin));
}

// The parser rejects anything but text, and a file that is too large.
function readScenarioFile(file: string, name: string, folder: string): string {
  try {
    const stats = statSync(file);
    requireFile(stats, "; use - for a scenario from stdin");
    const max = scenarioLimits.bytes + 1;
    return textOfBytes(readStart(file, Math.min(max, stats.size || max)));
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name, folder);
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

function unreadable(error: NodeJS.ErrnoException, name: string, folder: string): SandboxError {
  if (error.code !== "ENOENT") {
    const message = `Failed to read the scenario ${quoteFile(name)}: ${fileFailure(error)}.`;
    return new SandboxError("file_unreadable", message);
  }
  return scenarioNotFound(name, "it is neither a file nor a bundled name", {
    meant: similarFile(name, folder),
    shown: quoteFile(name),
  });
}

const endOfYaml = /\.ya?ml$/i;

/** The file with YAML that is meant by the name of a missing one: its end is another, or missing, or a few letters differ. */
export function similarFile(name: string, cwd: string): string | undefined {
  const { dir, base } = parse(name);
  const files = namesIn(resolve(cwd, dir)).filter((file) => endOfYaml.test(file));
  const stemOf = (file: string) => file.replace(endOfYaml, "");
  const stem = nearest(stemOf(base), files.map(stemOf));
  const meant = files.find((file) => stemOf(file) === stem);
  return meant && name.slice(0, name.length - base.length) + meant;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The text of a file or a request's body. Bytes that are not UTF-8 become a character that no text has, which is a problem with its place. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\uFFFD", "\u0000");
  }
}
