import project from "../../package.json" with { type: "json" };
import type { RunTrace } from "../runs/run-trace.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import type { RunConditions } from "./conditions.js";

// The sandboxes of a client's run report their requests in the folder of the run, which has:
// - `run.json`: what `exec` or `certify` sets for all sandboxes
// - `requests-….jsonl` of each process: its requests. Each is a line when it is made: test runners end their workers from outside
// - `claimed-…`: what one process has claimed

// Of Node only: other runtimes may lack both. A test may replace functions of the file system later.
export const nodeProcess = (globalThis as { process?: NodeJS.Process }).process;
export const nodeFiles = nodeProcess?.getBuiltinModule?.("node:fs");

export type Files = NonNullable<typeof nodeFiles>;

/** The version of this process. Another one may mean something else by what it writes. */
export const ownVersion: string = project.version;

export const runFileName = "run.json";

export interface RunFile {
  readonly version: string;
  readonly scenario: Pick<NamedScenario, "name" | "scenario">;
  /** The options of sandboxes that do not set them. */
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set, in a run with conditions. Default: the real time. */
  readonly clockStart?: number | undefined;
  readonly conditions?: RunConditions | undefined;
}

/** Parses the content of `run.json`. Throws for what `exec` and `certify` of any version do not write. */
export function parseRunFile(text: string): RunFile {
  const file: Partial<RunFile> | null = JSON.parse(text);
  if (file?.version !== undefined && file.scenario && file.options) return file as RunFile; // other members are as its version writes them
  throw new Error(`${runFileName} is not the file of a run`);
}

/** Claims a name, as a file that only one process can make. Returns whether it is the first claim. Throws if the file cannot be written. */
export function claimOnce(folder: string, name: string, files: Files): boolean {
  try {
    files.writeFileSync(`${folder}/claimed-${name}`, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A line of a process: its version, a request, or an unread response. The first one has the version; a process of another version writes no others. */
export interface RunLine {
  readonly version?: string;
  readonly exchange?: Exchange;
  readonly trace?: RunTrace | undefined;
  /** The id of the request whose response a client did not read whole. */
  readonly unread?: string;
}

const versionLine = `${JSON.stringify({ version: ownVersion } satisfies RunLine)}\n`;

/** The names of the files of lines: the process, and how many of its requests are missing. As in `requests-71-5-9-missing-2.jsonl`. */
export const linesFilePattern = /^requests-(.+?)(?:-missing-(\d{1,9}))?\.jsonl$/;

/** Writes the lines of a process into the folder of its run. A request whose line cannot be written, as to a full disk, is counted in the file's name. */
export class LineWriter {
  readonly #files: Files;
  readonly #processId: number;
  /** The start of the file's path. A process id may come again in another container. */
  readonly #pathStart: string;
  #path: string;
  #missing = 0;
  #hasVersionLine = false;
  /** Whether the last text may have been written in part, as to a full disk. */
  #isCut = false;
  #hasReported = false;

  constructor(folder: string, files: Files, processId: number) {
    const random = crypto.getRandomValues(new Uint32Array(2)).join("-");
    this.#files = files;
    this.#processId = processId;
    this.#pathStart = `${folder}/requests-${processId}-${random}`;
    this.#path = `${this.#pathStart}.jsonl`;
  }

  writeVersion(): void {
    if (!this.#hasVersionLine) this.#append(versionLine);
  }

  write(line: RunLine): void {
    const text = `${JSON.stringify(line)}\n`;
    const isWritten = this.#append(this.#hasVersionLine ? text : versionLine + text);
    if (!isWritten && line.exchange !== undefined) this.#countMissing();
  }

  /** Returns `undefined` for what fails, and reports the first failure. */
  tryOrReport<Result>(act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      if (!this.#hasReported) this.#report((error as Error).message);
      this.#hasReported = true;
      return undefined;
    }
  }

  /** Appends a text to the file, and makes it before the first one. Returns whether it was written. */
  #append(text: string): boolean {
    // After a text that may have been cut, a new line begins.
    const separated = this.#isCut ? `\n${text}` : text;
    const written = this.tryOrReport(() => {
      // Without a descriptor that stays open: some test runners load this module again for each file.
      this.#files.appendFileSync(this.#path, separated, { mode: 0o600 });
      return separated;
    });
    this.#isCut = written === undefined;
    this.#hasVersionLine ||= !this.#isCut;
    return !this.#isCut;
  }

  /** Counts a request without a line, in the name of the file: a rename needs no space on a full disk. */
  #countMissing(): void {
    this.#missing += 1;
    const path = `${this.#pathStart}-missing-${this.#missing}.jsonl`;
    try {
      this.#files.renameSync(this.#path, path);
    } catch (error) {
      // A file that is not there yet gets this name with its first line.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return;
    }
    this.#path = path;
  }

  /** Not as an error of the client: its response is right. */
  #report(message: string): void {
    const text = `svc-sandbox could not count the requests of process ${this.#processId}: ${message}\n`;
    try {
      this.#files.writeSync(2, text);
    } catch {
      // Nobody reads stderr.
    }
  }
}
