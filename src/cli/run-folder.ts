import { lstatSync, promises, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileFailure } from "../node/files/write-file.js";
import { version } from "../node/package-files.js";
import { claimOnce, linesFilePattern, type RunFile, type RunLine, runFileName } from "../runs/current-run.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import { atEnd } from "./run-command.js";

// A run of `exec` or `certify` has a folder, in which the sandboxes in processes of its command report their requests:
// src/runs/current-run.ts shows which files it has. This process makes the folder, reads its files as a whole while the command
// runs and at its end, and removes it. The folder has keys: only its owner reads it.

/** What to do if the folder cannot be written. */
const folderHint = "Name another folder in TMPDIR.";

/** Makes the folder of a run, for the sandboxes in processes of its command. */
export async function openRunFolder(run: Omit<RunFile, "version">): Promise<RunFolder> {
  // The command may change its working folder, and TMPDIR may be relative.
  const temporary = resolve(tmpdir());
  const path = await promises.mkdtemp(join(temporary, "svc-sandbox-run-")).catch((cause) => {
    throw unwritable(cause, `a folder for the command into ${quoteFile(temporary)}`, folderHint);
  });
  const folder = new RunFolder(path);

  // Sandboxes do not need the scenario's text and files.
  const { name, scenario } = run.scenario;
  const text = JSON.stringify({ ...run, version, scenario: { name, scenario } } satisfies RunFile);
  try {
    await promises.writeFile(join(path, runFileName), text, { mode: 0o600 });
  } catch (cause) {
    folder.remove();
    throw unwritable(cause, `the scenario for the command into ${quoteFile(path)}`, folderHint);
  }
  return folder;
}

/** The folder of a run. The sandboxes of its command add lines to files in it, which this process reads and counts. */
export class RunFolder {
  readonly path: string;
  /** How many lines of each file have been counted. */
  readonly #counted = new Map<string, number>();
  /** Why a request is missing: the last reason that was found. */
  #whyIncomplete: string | undefined;
  #removeFailure: string | undefined;

  constructor(path: string) {
    this.path = path;
    // A crash must not leave keys in the folder.
    atEnd.add(this.remove);
  }

  /** Removes the folder. If that fails, it is tried again when this process ends. */
  readonly remove = (): void => {
    try {
      // A sandbox in the background may write into it meanwhile.
      rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
      atEnd.delete(this.remove);
    } catch (error) {
      this.#removeFailure = fileFailure(error);
    }
  };

  /** Whether this is the first claim of a name, over all processes of the run. Nothing is claimed if that fails. */
  readonly claim = (name: string): boolean => {
    try {
      return claimOnce(this.path, name, process.getBuiltinModule("node:fs"));
    } catch (error) {
      this.#whyIncomplete = `The folder of the run could not be written: ${fileFailure(error)}.`;
      return false;
    }
  };

  /** Adds the requests since the last call to the run's own sandbox, as if it had got them. */
  read(sandbox: SandboxState): void {
    try {
      for (const name of readdirSync(this.path)) this.#readFile(name, sandbox);
    } catch (error) {
      // If the command has removed the folder, its sandboxes say what they could not count.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.#whyIncomplete = `The requests of the command could not be read: ${fileFailure(error)}.`;
    }
  }

  #readFile(name: string, sandbox: SandboxState): void {
    if (!linesFilePattern.test(name)) return;
    const file = join(this.path, name);
    // The command can put anything there. Reading a pipe would wait.
    if (!lstatSync(file).isFile()) throw new Error(`${name} is not a regular file`);

    // Bytes first: Node throws for more than 2 GiB, where its reader of texts would end the process.
    const text = readFileSync(file).toString("utf8");
    // What is behind the last line end is still written, or its process was killed.
    const lines = text.split("\n").slice(0, -1);
    for (const line of lines.slice(this.#counted.get(name) ?? 0)) this.#count(tryParseJson(line), sandbox);
    this.#counted.set(name, lines.length);
  }

  #count(line: unknown, sandbox: SandboxState): void {
    if (!isMapping(line)) {
      this.#whyIncomplete =
        "Requests of the command could not be counted: a process could not write all of its lines, for example to a full disk.";
      return;
    }
    const { exchange, trace, unread } = line as RunLine; // a sandbox of this version has written it
    if (unread !== undefined) sandbox.counters.countUnread(unread);
    if (exchange === undefined) return;
    // As if the server's own sandbox had got the request.
    sandbox.counters.count(exchange, trace);
    sandbox.journal.record(exchange);
  }

  /** Why requests of the command could not be counted; `undefined` if all were. */
  get whyIncomplete(): string | undefined {
    return this.#whyIncomplete;
  }

  /** Throws `usage` if a claim or a request is missing, because certify needs each of them. */
  throwIfIncomplete(): void {
    if (this.#whyIncomplete !== undefined) throw usageError(`${this.#whyIncomplete} Run it again.`);
  }

  /** That the folder, which has keys, is still there; `undefined` if it was removed. */
  get whyNotRemoved(): string | undefined {
    if (this.#removeFailure === undefined) return undefined;
    return `The folder of the run, ${quoteFile(this.path)}, could not be removed: ${this.#removeFailure}. Remove it yourself.`;
  }
}
