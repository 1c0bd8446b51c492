import { dirname, isAbsolute, join, resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { SandboxError } from "../../rules/errors.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { isScenarioName, type ScenarioName, scenarioNotFound } from "../../scenario/bundled.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import type { Locate } from "../../scenario/places.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { withStory } from "../../scenario/stories.js";
import { quoteFile } from "../../schema/words.js";
import { readBundledScenario } from "../package-files.js";
import { fileFailure, readSmallFile } from "./write-file.js";

/** A scenario with the places of its fields, which whoever runs it for long should not keep. */
export interface OpenedScenario {
  /** Where it is from; `run`: `exec` or `certify` has read it, and started this process. */
  readonly origin: "bundled" | "file" | "stdin" | "run";
  /** With the places of its fields, unless it is a bundled one, whose text only `places` reads. */
  readonly loaded: LoadedScenario & { readonly locate?: Locate };
  readonly places: () => Promise<{ readonly locate: Locate }>;
}

interface LoadOptions {
  /** The folder of relative names. Default: that of the process. */
  cwd?: string | undefined;
  /** Ends the reading of stdin. */
  signal?: AbortSignal | undefined;
  /** Gets the absolute path of each file before it is read, also of one that is missing: whoever follows the scenario follows these. */
  onFile?: ((file: string) => void) | undefined;
  /** A `Readable` with the scenario, in place of a file of its name. Typed as an object: the types of this package must not need Node's. Default: none, so that even `-` is a file. */
  stdin?: object | undefined;
}

/** The most bytes that are read of a text: more than allowed, so that it shows as too large, also if its last character, of up to four bytes, is cut. */
const maxBytes = scenarioLimits.bytes + 4;

/** Loads a scenario by its bundled name, from a file, or from stdin, if that is given, with the places of its fields. */
export async function openScenario(nameOrFile: string, options: LoadOptions): Promise<OpenedScenario> {
  const { cwd = process.cwd(), signal, stdin, onFile = () => {} } = options;
  if (nameOrFile === "") {
    throw scenarioNotFound("", "its name is empty, perhaps from a variable that is not set");
  }
  if (isScenarioName(nameOrFile)) return openBundled(nameOrFile);
  // Messages show the name.
  if (oneSafeLine(nameOrFile) !== nameOrFile) {
    const why = "its name has a control character, or starts like a command of a CI log. Rename it";
    throw new SandboxError(
      "file_unreadable",
      `Failed to read the scenario ${quoteFile(nameOrFile)}: ${why}.`,
    );
  }

  // In the order in which they were read. A text from stdin is in no file.
  const files: string[] = [];
  const readFile = (name: string, folder: string) => {
    const file = resolve(folder, name);
    files.push(file);
    onFile(file);
    return readScenarioFile(name, folder);
  };
  let text: string;
  if (stdin === undefined) text = readFile(nameOrFile, cwd);
  else text = await readStdin(nameOrFile, stdin as Readable, signal);

  // The text has the whole scenario unless it extends another file.
  let isWhole = true;
  /** The texts of the files that were extended, by the names that messages show. */
  const parents = new Map<string, string>();
  /** Reads the file that another one extends by this name, which is relative to its folder. Default: the scenario itself extends it. */
  const load = (name: string, from = nameOrFile) => {
    isWhole = false;
    // Messages show the file as the command line would name it.
    const shownFile = isAbsolute(name) ? name : join(dirname(from), name);
    const textOfParent = parents.get(shownFile) ?? readFile(name, resolve(cwd, dirname(from)));
    parents.set(shownFile, textOfParent);
    return { text: textOfParent, file: shownFile };
  };
  const { parseWithPlaces } = await import("../../scenario/scenario-source.js");
  const { scenario, ...places } = parseWithPlaces(text, { file: nameOrFile, load });

  const { locate } = places;
  const loaded = { scenario, name: nameOrFile, ...(isWhole && { text }), files, locate };
  return { origin: stdin === undefined ? "file" : "stdin", loaded, places: async () => places };
}

/** Opens a bundled scenario, which is in the program; only its places need its text. */
function openBundled(name: ScenarioName): OpenedScenario {
  return {
    origin: "bundled",
    loaded: { scenario: withStory(name), name, files: [] },
    async places() {
      const text = await readBundledScenario(name);
      // A bundled scenario does not need the reader of YAML.
      const { parseWithPlaces } = await import("../../scenario/scenario-source.js");
      return parseWithPlaces(text, { file: `scenarios/${name}.yaml` });
    },
  };
}

/** Reads a scenario from stdin. Throws `file_unreadable`. */
async function readStdin(name: string, stdin: Readable, signal: AbortSignal | undefined): Promise<string> {
  try {
    if (signal !== undefined) addAbortSignal(signal, stdin);
    return textOfBytes(await startOfStream(stdin, maxBytes));
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name);
  }
}

/** Reads a stream to its end, or until it has had so many bytes: a program may write to stdin without an end. */
async function startOfStream(stream: Readable, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    if (length >= max) break;
  }
  return Buffer.concat(chunks);
}

/** Reads a scenario file by its name in a folder. The parser rejects anything but text, and a file that is too large. */
export function readScenarioFile(name: string, folder: string): string {
  const file = resolve(folder, name);
  try {
    return textOfBytes(readSmallFile(file).subarray(0, maxBytes));
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name);
  }
}

/** The error of a scenario that cannot be read. */
function unreadable(error: NodeJS.ErrnoException, name: string): SandboxError {
  if (error.code !== "ENOENT") {
    const message = `Failed to read the scenario ${quoteFile(name)}: ${fileFailure(error)}.`;
    return new SandboxError("file_unreadable", message);
  }
  return scenarioNotFound(name, "it is neither a file nor a bundled name", { shown: quoteFile(name) });
}

/** The text of a file or a request's body. Bytes that are not UTF-8 become a character that no text has, which is a problem with its place. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\uFFFD", "\u0000");
  }
}
