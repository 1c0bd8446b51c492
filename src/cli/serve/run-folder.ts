import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  promises,
  readdirSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { lock } from "../../node/files/lock.js";
import { fileFailure } from "../../node/files/write-file.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import { pluralize } from "../../report/plain-text.js";
import { mistakesIn } from "../../rules/schema/check.js";
import { parsedJson } from "../../rules/schema/json.js";
import * as s from "../../rules/schema/shape.js";
import { pathText } from "../../rules/schema/shape.js";
import { listed, quote, quoteFile } from "../../rules/schema/words.js";
import { day } from "../../rules/time.js";
import { claimOnce, linesName, type RunFile, type RunLine, runFile } from "../../runs/run-writer.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { requestShape } from "../../sandbox/view-shapes.js";
import { unwritable, usageError } from "../exit-codes.js";

const folderPrefix = "svc-sandbox-run-";

/** Makes the folder of a run, for the sandboxes in processes of its command. Only its owner can read it. */
export async function openRunFolder(run: Omit<RunFile, "version">): Promise<RunFolder> {
  const whatToDo = "Name another folder in TMPDIR.";
  const runs = await folderOfRuns();
  await removeLeftFolders(runs);
  const path = await promises
    .mkdtemp(join(runs, folderPrefix))
    .catch(unwritable(`a folder for the command into ${quote(runs)}`, whatToDo));
  const folder = new RunFolder(path, await lock(path));

  // Without the scenario's text and files, which sandboxes do not need.
  const { name, scenario } = run.scenario;
  const text = JSON.stringify({ ...run, version, scenario: { name, scenario } } satisfies RunFile);
  await promises
    .writeFile(join(path, runFile), text, { mode: 0o600 })
    .catch(unwritable(`the scenario for the command into ${quoteFile(path)}`, whatToDo));
  return folder;
}

/** The folder of this user's runs: the one of all temporary files may have thousands of others, which each run would list. */
async function folderOfRuns(): Promise<string> {
  const user = process.getuid?.();
  // The command may change its working folder, and TMPDIR may be relative.
  const temporary = resolve(tmpdir());
  const folder = join(temporary, `svc-sandbox-${user ?? "runs"}`);
  await promises.mkdir(folder, { mode: 0o700 }).catch(() => {});
  const stats = await promises.lstat(folder).catch(() => undefined);
  if (!stats?.isDirectory()) return temporary;
  // Another user may have made it first. Windows has no numbers of users.
  const isOnlyOurs = user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0);
  return isOnlyOurs ? folder : temporary;
}

async function removeLeftFolders(runs: string): Promise<void> {
  const names = await promises.readdir(runs).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(folderPrefix)) continue;
    // One that cannot be removed is in nobody's way.
    await removeIfLeft(join(runs, name)).catch(() => {});
  }
}

/** Removes the folder of a killed run: this user's, older than a day, and locked by no process. */
async function removeIfLeft(path: string): Promise<void> {
  const stats = await promises.lstat(path);
  const user = process.getuid?.();
  const isOurs = user === undefined || stats.uid === user;
  if (!stats.isDirectory() || !isOurs) return;
  if (stats.mtimeMs > nodePlatform.time() - day) return;

  const unlock = await lock(path);
  if (unlock !== undefined) await promises.rm(path, { recursive: true }).finally(unlock);
}

/** The folder of a run. The sandboxes of its command add lines to files in it, which this process reads and counts. */
export class RunFolder {
  readonly path: string;
  readonly #unlock: (() => void) | undefined;
  readonly #files = new Map<string, GrowingFile>();
  readonly #otherVersions = new Set<string>();
  #fault: string | undefined;
  #whyLeft: string | undefined;

  constructor(path: string, unlock: (() => void) | undefined) {
    this.path = path;
    this.#unlock = unlock;
    // A crash must not leave keys in the folder.
    process.once("exit", this.remove);
  }

  /** A folder that cannot be removed is a note, and is tried again when this process ends. */
  readonly remove = (): void => {
    try {
      removeFolder(this.path);
      process.removeListener("exit", this.remove);
    } catch (error) {
      this.#whyLeft = fileFailure(error);
    }
    this.#unlock?.();
  };

  readonly claim = (name: string): boolean => claimOnce(this.path, name, process.getBuiltinModule("node:fs"));

  /** Adds the requests since the last call to the server's own sandbox, as if it had got them. */
  read(server: SandboxState): void {
    if (this.#fault !== undefined) return;
    try {
      for (const name of readdirSync(this.path)) this.#readFile(name, server);
    } catch (error) {
      // The command may remove the folder: its sandboxes then name what they could not count.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#fault = fileFailure(error);
    }
  }

  #readFile(name: string, server: SandboxState): void {
    // Its name also has the number of requests that its process could not write.
    const [, id, missing = "0"] = linesName.exec(name) ?? [];
    if (id === undefined) return;
    const file = this.#files.get(id) ?? new GrowingFile();
    this.#files.set(id, file);

    for (const line of file.read(join(this.path, name), Number(missing))) {
      addLine(server, line);
      if (line.version !== undefined && line.version !== version) this.#otherVersions.add(line.version);
    }
  }

  /** Throws `usage` if the command has put there what no sandbox writes. */
  requireSound(): void {
    if (this.#fault === undefined) return;
    const where = "the folder of its run, SVC_SANDBOX_RUN";
    throw usageError(`The command has changed ${where}: ${this.#fault}. Leave it to sandboxes.`);
  }

  /** What could not be counted, as sentences. */
  uncounted(): string[] {
    const sentences: string[] = [];
    let missing = 0;
    for (const file of this.#files.values()) missing += file.missing;
    if (missing > 0) {
      sentences.push(
        `At least ${pluralize(missing, "request")} of the command could not be counted: a process could not write all of its lines, for example to a full disk.`,
      );
    }

    if (this.#otherVersions.size > 0) {
      const versions = listed([...this.#otherVersions].map(quote), "and");
      sentences.push(
        `The command has sandboxes of svc-sandbox ${versions}, whose requests could not be counted. This is ${quote(version)}: use the same version.`,
      );
    }
    return sentences;
  }

  /** Throws `usage` if a line is missing, for what needs each request; the last one of a killed process may be cut. */
  requireWhole(): void {
    const files = [...this.#files.values()];
    if (files.every((file) => file.isWhole)) return;
    throw usageError(`${this.uncounted()[0]} Run it again.`);
  }

  /** The sentence about the folder if it could not be removed. */
  leftBehind(): string | undefined {
    if (this.#whyLeft === undefined) return undefined;
    return `The folder of the run, ${quote(this.path)}, could not be removed: ${this.#whyLeft}. Remove it yourself.`;
  }
}

/** A sandbox in the background may write into it meanwhile. */
function removeFolder(path: string): void {
  for (let left = 3; ; left -= 1) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

const { unread: _unread, source: _source, ...exchangeFields } = requestShape.fields;
// These are the members that counts and the report need.
const exchangeShape = s.openMapping({
  ...exchangeFields,
  number: s.number(),
  at: s.number(),
  fromStory: s.flag(),
  isProbe: s.flag(),
  isMisdirected: s.flag(),
  leaksRealKey: s.flag(),
  presented: s.choice(["missing", "malformed", "well_formed"]),
  traits: s.list(s.text()),
  operation: s.nullable(s.text()),
  keptHeaders: s.list(s.text()),
  response: s.openMapping({ status: s.number(), headers: s.list(s.text()), body: s.text() }),
});
const traceShape = s.openMapping({ points: s.list(s.openMapping({})), scenario: s.text() });
const lineShape = s.openMapping({
  version: s.optional(s.text()),
  exchange: s.optional(exchangeShape),
  keys: s.optional(s.openMapping({})),
  trace: s.optional(traceShape),
  unread: s.optional(s.text()),
});

function addLine({ counters, journal }: SandboxState, line: RunLine): void {
  const [mistake] = mistakesIn(lineShape, line);
  if (mistake !== undefined) throw new Error(`a line has no valid ${pathText(mistake.path) || "content"}`);
  const { exchange, keys, trace, unread } = line;
  if (unread !== undefined) counters.countUnread(unread);
  if (exchange === undefined) return;
  counters.count(exchange, keys, trace);
  journal.record(exchange);
}

const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
const longestFile = 256 * 1024 * 1024;
/** No request has one: bodies have at most 64 KiB, and headers as much. */
const longestRunLine = 1024 * 1024;

/** Opens a file that any program may have put there: reading a pipe would wait, and a device has no end. */
function openRegular(file: string): number {
  if (lstatSync(file).isSymbolicLink()) throw new Error(`${basename(file)} is a symbolic link`);
  const descriptor = openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const { size } = fstatSync(descriptor);
  if (fstatSync(descriptor).isFile() && size <= longestFile) return descriptor;
  closeSync(descriptor);
  throw new Error(`${basename(file)} is not a regular file of at most ${longestFile / 2 ** 20} MB`);
}

/** A file to which sandboxes add lines. */
class GrowingFile {
  #position = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** The number of lines that another one follows, and that were not written whole. */
  #cutLines = 0;
  /** The number of requests that its process could not write. */
  #missing = 0;

  /** The number of requests without a line, as far as that shows. */
  get missing(): number {
    const hasCutEnd = this.#rest.length > 0;
    const cut = hasCutEnd ? this.#cutLines + 1 : this.#cutLines;
    return Math.max(this.#missing, cut);
  }

  /** Whether each line is there, but for one that is not written yet. */
  get isWhole(): boolean {
    return this.#missing + this.#cutLines === 0;
  }

  /** Reads the complete lines that were added since the last call. */
  read(path: string, missing: number): RunLine[] {
    this.#missing = missing;
    const lines: string[] = [];
    const part = Buffer.alloc(64 * 1024);
    const descriptor = openRegular(path);
    try {
      for (;;) {
        const length = readSync(descriptor, part, 0, part.length, this.#position);
        if (length === 0) return this.#parsed(lines);
        this.#position += length;
        lines.push(...this.#linesWith(part.subarray(0, length), path));
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #parsed(lines: readonly string[]): RunLine[] {
    const whole: RunLine[] = [];
    for (const line of lines) {
      if (line === "") continue;
      const value = parsedJson(line);
      if (value === undefined) this.#cutLines += 1;
      else whole.push(value as RunLine); // its shape is checked when it is added
    }
    return whole;
  }

  /** The lines that end in this part; what follows them waits for the next one. */
  #linesWith(part: Buffer, path: string): string[] {
    const bytes = Buffer.concat([this.#rest, part]);
    const end = bytes.lastIndexOf("\n") + 1;
    this.#rest = bytes.subarray(end);

    // Only the first line can be long: the others are shorter than a part.
    const longest = end === 0 ? bytes.length : bytes.indexOf("\n");
    if (longest > longestRunLine) {
      throw new Error(`${basename(path)} has a line of more than ${longestRunLine / 2 ** 20} MB`);
    }
    return bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  }
}
