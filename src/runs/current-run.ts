import project from "../../package.json" with { type: "json" };
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { conditionedRun } from "./conditioned-run.js";
import type { RunConditions } from "./conditions.js";
import type { RunTrace } from "./run-trace.js";

// How do `exec` and `certify` learn what a client in another process has covered? They name the folder of the run in SVC_SANDBOX_RUN. Each
// sandbox in a process of the command, or in one that this has started, looks there, and writes. The folder has:
// - `run.json`: what `exec` or `certify` sets for all sandboxes, such as the conditions of the run
// - `requests-….jsonl` of each process: its requests. Each is a line when it is made: test runners end their workers from outside
// - `claimed-…`: what one process has claimed, such as to be the one that replaces the first response
// Processes of one run share nothing else: each has sandboxes and clocks of its own, and ids of requests repeat in each.
// src/cli/run-folder.ts makes the folder, reads the lines while the command runs, and counts them in the run's own sandbox.
//
// Only a process of Node belongs to a run: in a browser there is no file system.

// Of Node only: other runtimes may lack both. A test may replace functions of the file system later.
const nodeProcess = (globalThis as { process?: NodeJS.Process }).process;
const nodeFiles = nodeProcess?.getBuiltinModule?.("node:fs");

type Files = NonNullable<typeof nodeFiles>;

/** The version of this process. Another one may mean something else by what it writes. */
const ownVersion: string = project.version;

/** The run of `exec` or `certify` that this process belongs to, by the folder in SVC_SANDBOX_RUN. */
export interface SandboxRun {
  readonly scenario: RunFile["scenario"] | undefined;
  readonly conditionedRun: ConditionedRun | undefined;
  /** Returns a sandbox's own options, and the run's in place of those that it does not set. */
  readonly optionsFor: (ownOptions: StartOptions) => StartOptions;
  /** Reports each later request of a sandbox, over all resets. */
  readonly reportRequestsOf: (sandbox: SandboxState) => void;
}

/** The folder that the last sandbox of this process has found. Each sandbox asks, and the folder may change between tests. Its writer reports a failure once. */
let openFolder: { readonly path: string; readonly writer: LineWriter } | undefined;
let openRun: SandboxRun | undefined;

export function currentRun(): SandboxRun | undefined {
  const path = nodeProcess?.env?.SVC_SANDBOX_RUN;
  if (!path || nodeProcess === undefined || nodeFiles === undefined) return undefined;
  if (openFolder?.path !== path) {
    openFolder = { path, writer: new LineWriter(path, nodeFiles, nodeProcess.pid) };
    openRun = undefined;
  }
  // A run that could not be read is tried again.
  openRun ??= readRun(path, openFolder.writer, nodeFiles);
  return openRun;
}

/** Reads the run of a folder; `undefined` if that fails, which is reported. */
function readRun(path: string, writer: LineWriter, files: Files): SandboxRun | undefined {
  const file = writer.tryOrReport(() => {
    const content: Partial<RunFile> | null = JSON.parse(files.readFileSync(`${path}/${runFileName}`, "utf8"));
    // Other members are as their version writes them.
    if (content?.version !== undefined && content.scenario && content.options) return content as RunFile;
    throw new Error(`${runFileName} is not the file of a run`);
  });
  if (file === undefined) return undefined;
  if (file.version !== ownVersion) {
    // Another version may mean something else: a line shows only that there was a request.
    const count = () => writer.write({ version: ownVersion });
    return {
      scenario: undefined,
      conditionedRun: undefined,
      optionsFor: (own) => own,
      reportRequestsOf: ({ counters }) => counters.alsoCountWith({ count, countUnread() {} }),
    };
  }

  const { scenario, options, clockStart, conditions } = file;
  // A claim that fails is reported, and nothing is put in place of the response.
  const claim = (name: string) => writer.tryOrReport(() => claimOnce(path, name, files)) ?? false;
  return {
    scenario,
    conditionedRun: { ...conditionedRun(conditions, claim), clockStart },
    optionsFor: (own) => ({
      ...own,
      seed: own.seed ?? options.seed,
      profile: own.profile ?? options.profile,
      now: own.now ?? options.now,
      frozen: own.frozen ?? options.frozen,
    }),
    reportRequestsOf: (sandbox) => writeRequestsOf(sandbox, writer, options.seed),
  };
}

/** Writes a line for each later request of a sandbox, and for each response that a client did not read whole. */
function writeRequestsOf(sandbox: SandboxState, writer: LineWriter, seedOfRun: number | undefined): void {
  sandbox.counters.alsoCountWith({
    // `conditionedRun` made the trace.
    count(exchange, trace?: RunTrace) {
      // Asked for each request, because a reset may set another seed.
      const isOwnSeed = seedOfRun !== undefined && sandbox.seed !== seedOfRun;
      const ownSeed = isOwnSeed ? sandbox.seed : undefined;
      writer.write({ version: ownVersion, exchange, trace: trace && { ...trace, ownSeed } });
    },
    countUnread: (unread) => writer.write({ version: ownVersion, unread }),
  });
}

export const runFileName = "run.json";

export interface RunFile {
  readonly version: string;
  readonly scenario: Pick<NamedScenario, "name" | "scenario">;
  /** The options of sandboxes that do not set them. */
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly clockStart?: number | undefined;
  readonly conditions: RunConditions;
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

/** A line of a process: a request, or an unread response. A process of another version writes only the version. */
export interface RunLine {
  readonly version: string;
  readonly exchange?: Exchange;
  readonly trace?: RunTrace | undefined;
  /** The id of the request whose response a client did not read whole. */
  readonly unread?: string;
}

/** The names of the files of lines: the process, and how many of its requests are missing. As in `requests-71-5-9-missing-2.jsonl`. */
export const linesFilePattern = /^requests-(.+?)(?:-missing-(\d{1,9}))?\.jsonl$/;

/** Writes the lines of a process into the folder of its run. A request whose line cannot be written, as to a full disk, is counted in the file's name. */
class LineWriter {
  readonly #files: Files;
  readonly #processId: number;
  /** The start of the file's path. A process id may come again in another container. */
  readonly #pathStart: string;
  #path: string;
  #missing = 0;
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

  write(line: RunLine): void {
    const isWritten = this.#append(`${JSON.stringify(line)}\n`);
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
