import project from "../../package.json" with { type: "json" };
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { conditionedRun } from "./conditioned-run.js";
import type { RunConditions, RunTrace } from "./conditions.js";

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
  readonly scenario: RunFile["scenario"];
  readonly conditionedRun: ConditionedRun;
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
    if (!content?.version) throw new Error(`${runFileName} is not the file of a run`);
    const { version } = content;
    if (version === ownVersion) return content as RunFile; // this version has written it
    throw new Error(`the run is of svc-sandbox ${version}, and this is ${ownVersion}. Use the same version.`);
  });
  if (file === undefined) return undefined;

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
      writer.write({ exchange, trace: trace && { ...trace, ownSeed } });
    },
    countUnread: (unread) => writer.write({ unread }),
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

/** A line of a process: a request, or an unread response. */
export interface RunLine {
  readonly exchange?: Exchange;
  readonly trace?: RunTrace | undefined;
  /** The id of the request whose response a client did not read whole. */
  readonly unread?: string;
}

/** The names of the files of lines. */
export const linesFilePattern = /^requests-.+\.jsonl$/;

/** Writes the lines of a process into the folder of its run. */
class LineWriter {
  readonly #files: Files;
  readonly #processId: number;
  readonly #path: string;
  /** Whether the last text may have been written in part, as to a full disk. */
  #isCut = false;
  #hasReported = false;

  constructor(folder: string, files: Files, processId: number) {
    const random = crypto.getRandomValues(new Uint32Array(2)).join("-");
    this.#files = files;
    this.#processId = processId;
    // A process id may come again in another container.
    this.#path = `${folder}/requests-${processId}-${random}.jsonl`;
  }

  /** Appends a line to the file, and makes it before the first one. */
  write(line: RunLine): void {
    // After a line that may have been cut, a new one begins.
    const start = this.#isCut ? "\n" : "";
    const text = `${start}${JSON.stringify(line)}\n`;
    const written = this.tryOrReport(() => {
      // Without a descriptor that stays open: some test runners load this module again for each file.
      this.#files.appendFileSync(this.#path, text, { mode: 0o600 });
      return text;
    });
    this.#isCut = written === undefined;
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
