import {
  closeSync,
  constants,
  existsSync,
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
import { lock } from "../node/files/lock.js";
import { fileFailure } from "../node/files/write-file.js";
import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import { pluralize } from "../report/plain-text.js";
import { day } from "../rules/time.js";
import { claimOnce, linesFilePattern, type RunFile, type RunLine, runFileName } from "../runs/current-run.js";
import { requestShape } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { findMismatches } from "../schema/check.js";
import { tryParseJson } from "../schema/json-text.js";
import * as s from "../schema/shape.js";
import { listed, quote, quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import { processEnd } from "./run-command.js";

// A run of `exec` or `certify` has a folder, in which the sandboxes in processes of its command report their requests:
// src/runs/current-run.ts shows which files it has. This process makes the folder, reads it while the command runs, and
// removes it. The command can write anything into it: a file is read only if a sandbox could have written it.

/** Makes the folder of a run, for the sandboxes in processes of its command. */
export async function openRunFolder(run: Omit<RunFile, "version">): Promise<RunFolder> {
  const folder = new RunFolder(await makeRunFolder());

  // Sandboxes do not need the scenario's text and files.
  const { name, scenario } = run.scenario;
  const text = JSON.stringify({ ...run, version, scenario: { name, scenario } } satisfies RunFile);
  try {
    await promises.writeFile(join(folder.path, runFileName), text, { mode: 0o600 });
  } catch (cause) {
    throw unwritable(cause, `the scenario for the command into ${quoteFile(folder.path)}`, folderHint);
  }
  return folder;
}

/** The folder of a run. The sandboxes of its command add lines to files in it, which this process reads and counts. */
export class RunFolder {
  readonly path: string;
  readonly #unlock: () => void;
  /** The files of processes, by the ids in their names. */
  readonly #files = new Map<string, RequestsFile>();
  /** The versions of sandboxes whose requests could not be counted. */
  readonly #otherVersions = new Set<string>();
  /** Why the folder cannot be read. */
  #readFailure: string | undefined;
  /** Why a request could not be claimed. */
  #claimFailure: string | undefined;
  /** Why the folder could not be removed. */
  #removeFailure: string | undefined;

  constructor({ path, unlock }: LockedFolder) {
    this.path = path;
    this.#unlock = unlock;
    // A crash must not leave keys in the folder.
    processEnd.add(this.remove);
  }

  /** Removes the folder. If that fails, it is tried again when this process ends, and `notRemovedSentences` says so. */
  readonly remove = (): void => {
    try {
      removeFolder(this.path);
      processEnd.remove(this.remove);
    } catch (error) {
      this.#removeFailure = fileFailure(error);
    }
    this.#unlock();
  };

  /** Whether this is the first claim of a name, over all processes of the run. Nothing is claimed if that fails. */
  readonly claim = (name: string): boolean => {
    try {
      return claimOnce(this.path, name, process.getBuiltinModule("node:fs"));
    } catch (error) {
      this.#claimFailure ??= fileFailure(error);
      return false;
    }
  };

  /** Adds the requests since the last call to the run's own sandbox, as if it had got them. */
  read(sandbox: SandboxState): void {
    if (this.#readFailure !== undefined) return;
    try {
      for (const name of readdirSync(this.path)) this.#readFile(name, sandbox);
    } catch (error) {
      // If the command has removed the folder, its sandboxes say what they could not count.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#readFailure = fileFailure(error);
    }
  }

  #readFile(name: string, sandbox: SandboxState): void {
    // The name has an id, and the number of requests that its process could not write.
    const [, id, unwritten = "0"] = linesFilePattern.exec(name) ?? [];
    if (id === undefined) return;
    const file = this.#files.get(id) ?? new RequestsFile();
    this.#files.set(id, file);

    for (const line of file.read(join(this.path, name), Number(unwritten))) {
      const { exchange, trace, unread } = line;
      if (unread !== undefined) sandbox.counters.countUnread(unread);
      if (exchange !== undefined) {
        // As if the server's own sandbox had got the request.
        sandbox.counters.count(exchange, trace);
        sandbox.journal.record(exchange);
      }
      if (line.version !== undefined && line.version !== version) this.#otherVersions.add(line.version);
    }
  }

  /** Throws `usage` if the command has put there what no sandbox writes. */
  throwIfChangedByCommand(): void {
    if (this.#readFailure === undefined) return;
    const where = "the folder of its run, SVC_SANDBOX_RUN";
    throw usageError(`The command has changed ${where}: ${this.#readFailure}. Leave it to sandboxes.`);
  }

  /** Sentences about what could not be counted. */
  uncountedSentences(): string[] {
    const sentences: string[] = [];
    let missing = 0;
    for (const file of this.#files.values()) missing += file.lost("with_open_line");
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

  /** Throws `usage` if a claim or a request is missing, because certify needs each of them. The last line of a killed process may be cut. */
  throwIfRequestsAreMissing(): void {
    if (this.#claimFailure !== undefined) {
      throw usageError(`The folder of the run could not be written: ${this.#claimFailure}. Run it again.`);
    }
    const hasAllLines = [...this.#files.values()].every((file) => file.lost("without_open_line") === 0);
    if (hasAllLines && this.#otherVersions.size === 0) return;
    throw usageError(`${this.uncountedSentences()[0]} Run it again.`);
  }

  /** Sentences about what could not be removed. */
  notRemovedSentences(): string[] {
    if (this.#removeFailure === undefined) return [];
    return [
      `The folder of the run, ${quoteFile(this.path)}, could not be removed: ${this.#removeFailure}. Remove it yourself.`,
    ];
  }
}

/** The file of the requests of one process, which adds lines to it. */
class RequestsFile {
  /** How far it has been read. */
  #position = 0;
  /** The bytes after the last line end: its process still writes them, or was killed. */
  #openLine: Buffer = Buffer.alloc(0);
  /** The number of requests that the process could not write, as the name of the file says. */
  #unwritten = 0;
  /** The number of lines that are not JSON: the process could write only a part. */
  #cutLines = 0;

  /** The number of requests without a whole line, as far as that shows. */
  lost(counted: "with_open_line" | "without_open_line"): number {
    const isCut = counted === "with_open_line" && this.#openLine.length > 0;
    // The process also counts a line as unwritten that it has cut.
    return Math.max(this.#unwritten, this.#cutLines + Number(isCut));
  }

  /** Reads the lines since the last call. The file may have another name each time. Throws if no sandbox writes such a file. */
  read(path: string, unwritten: number): RunLine[] {
    this.#unwritten = unwritten;
    const lines: RunLine[] = [];
    const portion = Buffer.alloc(readTogether);
    const descriptor = openRegular(path);
    try {
      for (;;) {
        const length = readSync(descriptor, portion, 0, portion.length, this.#position);
        if (length === 0) return lines;
        this.#position += length;
        const bytes = Buffer.concat([this.#openLine, portion.subarray(0, length)]);
        const end = bytes.lastIndexOf("\n") + 1;
        this.#openLine = bytes.subarray(end);
        lines.push(...this.#checked(bytes.toString("utf8", 0, end)));
        if (this.#openLine.length > maxOpenLine) {
          throw new Error(`${basename(path)} has a line of more than ${maxOpenLine / megabyte} MB`);
        }
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #checked(text: string): RunLine[] {
    const lines: RunLine[] = [];
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const value = tryParseJson(line);
      if (value === undefined) {
        this.#cutLines += 1;
        continue;
      }

      const [mismatch] = findMismatches(lineShape, value);
      if (mismatch !== undefined) throw new Error(`a line has no valid ${mismatch.path || "content"}`);
      lines.push(value as RunLine); // it has the shape
    }
    return lines;
  }
}

/** Tries it again, because a sandbox in the background may write into the folder meanwhile. */
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

// The folder of a run has keys: only its owner reads it, and each end of its process but a kill removes it. A folder that a
// killed run has left is removed by a later run after a day, if no process has its lock.

const folderPrefix = "svc-sandbox-run-";

/** What to do if the folder cannot be written. */
const folderHint = "Name another folder in TMPDIR.";

/** A folder of one run, and how to unlock it. */
interface LockedFolder {
  readonly path: string;
  readonly unlock: () => void;
}

/** Makes a folder for a run, which only its owner can read, and which no later run removes. Removes those that killed runs have left. */
async function makeRunFolder(): Promise<LockedFolder> {
  const runs = await makeFolderOfRuns();
  await removeLeftFolders(runs);
  for (;;) {
    const path = await promises.mkdtemp(join(runs, folderPrefix)).catch((cause) => {
      throw unwritable(cause, `a folder for the command into ${quoteFile(runs)}`, folderHint);
    });
    const unlock = await lock(path);
    // Before the lock, a run with another clock may take it for a folder that a killed run has left. Then another one is made.
    if (unlock !== undefined && existsSync(path)) return { path, unlock };
    unlock?.();
  }
}

/** The folder of this user's runs: the one of all temporary files may have thousands of others, which each run would list. */
async function makeFolderOfRuns(): Promise<string> {
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

/** Removes the folders that killed runs have left. */
async function removeLeftFolders(runs: string): Promise<void> {
  const names = await promises.readdir(runs).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(folderPrefix)) continue;
    // A folder that cannot be removed is in nobody's way.
    await removeIfLeft(join(runs, name)).catch(() => {});
  }
}

/** Removes a folder if its run was killed: it is this user's, older than a day, and locked by no process. */
async function removeIfLeft(path: string): Promise<void> {
  const stats = await promises.lstat(path);
  const user = process.getuid?.();
  const isOurs = user === undefined || stats.uid === user;
  if (!stats.isDirectory() || !isOurs) return;
  if (stats.mtimeMs > nodePlatform.time() - day) return;

  const unlock = await lock(path);
  if (unlock !== undefined) await promises.rm(path, { recursive: true }).finally(unlock);
}

// Windows lacks some of them.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
const megabyte = 1024 * 1024;
const maxFileLength = 256 * megabyte;
/** The most bytes of a line without its end. No request has as many: bodies have at most 64 KiB, and headers as much. */
const maxOpenLine = megabyte;
/** How many bytes are read together. */
const readTogether = 64 * 1024;

/** Opens a file that any program may have put there: reading a pipe would wait, and a device has no end. */
function openRegular(file: string): number {
  if (lstatSync(file).isSymbolicLink()) throw new Error(`${basename(file)} is a symbolic link`);
  const descriptor = openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size <= maxFileLength) return descriptor;
  closeSync(descriptor);
  throw new Error(`${basename(file)} is not a regular file of at most ${maxFileLength / megabyte} MB`);
}

// What the control plane shows of a request, but for two fields that it makes from others of an exchange.
const { unread: _unread, source: _source, ...exchangeFields } = requestShape.fields;

/** An exchange in a line: what the control plane shows of a request, and what else counts and the report need. */
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
  operation: s.orNull(s.text()),
  keptHeaders: s.list(s.text()),
  response: s.openMapping({ status: s.number(), headers: s.list(s.text()), body: s.text() }),
  // The keys that its advice is about, by the ids of advice.
  keysOfAdvice: s.optional(s.openMapping({})),
});

const traceShape = s.openMapping({ points: s.list(s.openMapping({})), scenario: s.text() });

/** A line that a sandbox has written: its first one has the version, each other one an exchange or a request whose response was not read. */
const lineShape = s.openMapping({
  version: s.optional(s.text()),
  exchange: s.optional(exchangeShape),
  trace: s.optional(traceShape),
  // The id of a request whose response was not read to its end.
  unread: s.optional(s.text()),
});
