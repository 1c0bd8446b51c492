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

/** The file system of Node. */
export type Files = NonNullable<typeof nodeFiles>;

/** The version of this process. Another one may mean something else by what it writes. */
export const ownVersion: string = project.version;

export const runFileName = "run.json";

/** The content of `run.json`. */
export interface RunFile {
  readonly version: string;
  /** The scenario of sandboxes that name none. */
  readonly scenario: Pick<NamedScenario, "name" | "scenario">;
  /** The options of sandboxes that do not set them. */
  readonly options: StartOptions;
  /** The start of clocks that neither the options nor the scenario set, in a run with conditions. Default: the real time. */
  readonly clockStart?: number | undefined;
  /** Default: none. */
  readonly conditions?: RunConditions | undefined;
}

/** Parses the content of `run.json`. Throws for what `exec` and `certify` of any version do not write. */
export function parseRunFile(text: string): RunFile {
  const file: Partial<RunFile> | null = JSON.parse(text);
  if (file?.version !== undefined && file.scenario && file.options) return file as RunFile; // other members are as its version writes them
  throw new Error(`${runFileName} is not the file of a run`);
}

/** A line of a process: its version, a request, or an unread response. The first one has the version; a process of another version writes no others. */
export interface RunLine {
  readonly version?: string;
  readonly exchange?: Exchange;
  readonly trace?: RunTrace | undefined;
  /** The id of the request whose response a client did not read whole. */
  readonly unread?: string;
}

/** The names of the files of lines: the process, and how many of its requests are missing. As in `requests-71-5-9-missing-2.jsonl`. */
export const linesFilePattern = /^requests-(.+?)(?:-missing-(\d{1,9}))?\.jsonl$/;

/** A process's file of lines. Its name also has the number of missing requests: a rename needs no space on a full disk. */
export function linesFileName(id: string, missing = 0): string {
  const suffix = missing === 0 ? "" : `-missing-${missing}`;
  return `requests-${id}${suffix}.jsonl`;
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
