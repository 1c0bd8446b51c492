import project from "../../package.json" with { type: "json" };
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { RunTrace } from "../sandbox/run-trace.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { callerOutside } from "./caller-place.js";
import { conditionedRun } from "./conditioned-run.js";
import type { RunConditions } from "./conditions.js";

// The sandboxes of a client's run report their requests in the folder of the run, which has:
// - `run.json`: what `exec` or `certify` sets for all sandboxes
// - `requests-….jsonl` of each process: its requests. Each is a line when it is made: test runners end their workers from outside
// - `claimed-…`: what one process has claimed
// Only a process of Node belongs to a run: in a browser, `currentRun` finds no file system and returns none.

/** The content of `run.json`. */
export interface RunFile {
  readonly version: string;
  /** The scenario of sandboxes that name none. */
  readonly scenario: Pick<NamedScenario, "name" | "scenario">;
  /** The options of sandboxes that do not set them. */
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set. Default: the real time. */
  readonly start?: number | undefined;
  /** Default: none. */
  readonly conditions?: RunConditions | undefined;
}

/** A line of a process: its version, a request, or an unread response. The first one has the version; a process of another version writes no others. */
export interface RunLine {
  readonly version?: string;
  readonly exchange?: Exchange;
  readonly trace?: RunTrace | undefined;
  /** The id of the request whose response a client did not read whole. */
  readonly unread?: string;
}

/** The run of `exec` or `certify` that this process belongs to, by the folder in SVC_SANDBOX_RUN. */
export interface SandboxRun {
  readonly scenario: RunFile["scenario"] | undefined;
  readonly conditionedRun: ConditionedRun | undefined;
  /** Returns a sandbox's own options, and the run's in place of those that it does not set. */
  readonly optionsFor: (ownOptions: StartOptions) => StartOptions;
  /** Reports each later request of a sandbox, over all resets. One that code starts has a place that the report can name. */
  readonly follow: (sandbox: SandboxState, startedBy?: "code" | "command") => void;
}

export const runFileName = "run.json";

/** The names of the files of requests: the process, and how many of its requests are missing. */
export const linesFilePattern = /^requests-(.+?)(?:-missing-(\d{1,9}))?\.jsonl$/;

/** A process's file. Its name also has the number of missing requests: a rename needs no space on a full disk. */
function linesFile(id: string, missing = 0): string {
  const suffix = missing === 0 ? "" : `-missing-${missing}`;
  return `requests-${id}${suffix}.jsonl`;
}

// Of Node only; other runtimes may lack it, and a test may replace these functions later.
const node = (globalThis as { process?: NodeJS.Process }).process;
const fs = node?.getBuiltinModule?.("node:fs");

type Files = NonNullable<typeof fs>;

/** What this process has read in the folder of its run. Each of its sandboxes asks, and the folder may change between tests. */
let opened: { readonly folder: string; readonly writer: LineWriter; run: SandboxRun | undefined } | undefined;

/** Returns the run that this process belongs to; `undefined` outside of `exec` and `certify`. */
export function currentRun(): SandboxRun | undefined {
  const folder = node?.env?.SVC_SANDBOX_RUN;
  if (!folder || fs === undefined) return undefined;
  if (opened?.folder !== folder) opened = { folder, writer: new LineWriter(folder, fs), run: undefined };
  // A run that could not be read is tried again.
  opened.run ??= readRun(folder, fs, opened.writer);
  return opened.run;
}

/** Reads the run of a folder; `undefined` if that fails, which is reported. */
function readRun(folder: string, files: Files, writer: LineWriter): SandboxRun | undefined {
  const file = writer.tryOrReport(() => parseRunFile(files.readFileSync(`${folder}/${runFileName}`, "utf8")));
  if (file === undefined) return undefined;
  // Another version may mean something else by it.
  if (file.version !== project.version) return runOfAnotherVersion(writer);

  const { scenario, options, start, conditions } = file;
  // A claim that fails is reported, and nothing is put in place of the response.
  const claim = (name: string) => writer.tryOrReport(() => claimOnce(folder, name, files)) ?? false;
  return {
    scenario,
    conditionedRun: conditions && { ...conditionedRun(conditions, claim), start },
    optionsFor: (ownOptions) => ({
      ...ownOptions,
      seed: ownOptions.seed ?? options.seed,
      profile: ownOptions.profile ?? options.profile,
      now: ownOptions.now ?? options.now,
      frozen: ownOptions.frozen ?? options.frozen,
    }),
    follow(sandbox, startedBy = "code") {
      // Whether it has a seed of its own. Asked for each request, because a reset may set another one.
      const isPinned = () => options.seed !== undefined && sandbox.seed !== options.seed;
      const place = isPinned() && startedBy === "code" ? callerOutside(node as NodeJS.Process) : undefined;
      sandbox.counters.passOnTo({
        count(exchange, trace) {
          const pinned = isPinned() ? { seed: sandbox.seed, place } : undefined;
          writer.line({ exchange, trace: trace && { ...trace, pinned } });
        },
        countUnread: (unread) => writer.line({ unread }),
      });
    },
  };
}

/** Parses the content of `run.json`. Throws for what `exec` and `certify` of any version do not write. */
function parseRunFile(text: string): RunFile {
  const file: Partial<RunFile> | null = JSON.parse(text);
  if (file?.version !== undefined && file.scenario && file.options) return file as RunFile;
  throw new Error(`${runFileName} is not the file of a run`);
}

/** A run that sets nothing. The first request writes a line with the version of this process, and no request is counted. */
function runOfAnotherVersion(writer: LineWriter): SandboxRun {
  const count = () => writer.line();
  return {
    scenario: undefined,
    conditionedRun: undefined,
    optionsFor: (ownOptions) => ownOptions,
    follow: ({ counters }) => counters.passOnTo({ count, countUnread() {} }),
  };
}

/** Claims a name, as a file that only one process can make. Returns whether it is the first claim, over all processes of the run. Throws if the file cannot be written. */
export function claimOnce(folder: string, name: string, files: Files): boolean {
  try {
    files.writeFileSync(`${folder}/claimed-${name}`, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Writes the lines of this process. A line that cannot be written is counted in the file's name. */
class LineWriter {
  readonly #folder: string;
  /** A process id may come again in another container. */
  readonly #id = `${node?.pid}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  readonly #files: Files;
  #file: string;
  /** The requests without a line. */
  #missing = 0;
  /** Whether the line with the version is written. */
  #isStarted = false;
  /** Whether the last text may have been written in part, as to a full disk. */
  #isCut = false;
  /** Whether a failure has been reported. */
  #hasReported = false;

  constructor(folder: string, files: Files) {
    this.#folder = folder;
    this.#files = files;
    this.#file = `${folder}/${linesFile(this.#id)}`;
  }

  /** Writes a line, after the one with the version. Default: only that. */
  line(line?: RunLine): void {
    let text = "";
    if (!this.#isStarted) text += `${JSON.stringify({ version: project.version })}\n`;
    if (line !== undefined) text += `${JSON.stringify(line)}\n`;
    if (text === "") return;

    // After a text that may have been cut, a new line begins.
    if (this.#isCut) text = `\n${text}`;
    const isWritten = this.tryOrReport(() => {
      // Without a descriptor that stays open: some test runners load this module again for each file.
      this.#files.appendFileSync(this.#file, text, { mode: 0o600 });
      return true;
    });
    this.#isCut = isWritten !== true;
    if (isWritten) this.#isStarted = true;
    else if (line?.exchange !== undefined) this.#countMissing();
  }

  /** Counts a request without a line, in the name of the file. */
  #countMissing(): void {
    this.#missing += 1;
    const file = `${this.#folder}/${linesFile(this.#id, this.#missing)}`;
    try {
      this.#files.renameSync(this.#file, file);
    } catch (error) {
      // A file that is not there yet gets this name with its first line.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return;
    }
    this.#file = file;
  }

  /** Returns `undefined` for what fails, and reports the first failure. */
  tryOrReport<Result>(act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      // Once, and not as an error of the client: its response is right.
      const text = `svc-sandbox could not count the requests of process ${node?.pid}: ${(error as Error).message}\n`;
      if (!this.#hasReported) this.#say(text);
      this.#hasReported = true;
      return undefined;
    }
  }

  /** Writes to stderr. */
  #say(text: string): void {
    try {
      this.#files.writeSync(2, text);
    } catch {
      // Nobody reads it.
    }
  }
}
