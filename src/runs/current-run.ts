import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { conditionedRun } from "./conditioned-run.js";
import {
  claimOnce,
  type Files,
  LineWriter,
  nodeFiles,
  nodeProcess,
  ownVersion,
  parseRunFile,
  type RunFile,
  runFileName,
} from "./run-folder.js";
import type { RunTrace } from "./run-trace.js";

// Which run does this process belong to? Only a process of Node belongs to one: in a browser there is no file system, and no run.

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
  const file = writer.tryOrReport(() => parseRunFile(files.readFileSync(`${path}/${runFileName}`, "utf8")));
  if (file === undefined) return undefined;
  if (file.version !== ownVersion) {
    // Another version may mean something else: the first request writes a line with ours, and no request is counted.
    const count = () => writer.writeVersion();
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
    conditionedRun: conditions && { ...conditionedRun(conditions, claim), clockStart },
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
