import { on, once } from "node:events";
import { accessSync, constants as fileConstants } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { fileFailure } from "../node/files/write-file.js";
import { longestTimer } from "../node/platform.js";
import { controlPath } from "../rules/paths.js";
import { describeFailure, exitCode, failureForm, usageError } from "./exit-codes.js";
import { createPrinter, type Output, type Printer } from "./terminal.js";

// How a process ends:
//
//   by itself       when nothing is left to do
//   `stopSignal`    a command that serves or waits stops at a signal
//   `stopProcess`   stops it as if a signal had come
//   `takeSignals`   a command that runs other programs handles signals itself
//   `endSoon`       ends it after a while, even if something is still open

/** Everything that a command uses of its process, so that tests can run it in theirs. */
export interface Io {
  readonly stdout: Printer;
  readonly stderr: Printer;
  /** Prints an error on stderr, in the form that the command line asks for. */
  readonly sayFailure: (error: unknown) => void;
  /** The input for `-` instead of a scenario file. To read it opens it, which most commands do not. */
  readonly stdin: () => Readable & { unref?(): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the user starts this program: `svc-sandbox`, or with `npx` before it. */
  readonly program: string;
  /** The file that starts this program; `undefined` if the system cannot run that file. */
  readonly programFile?: string | undefined;
  readonly cwd: string;
  /** Aborted at SIGINT, SIGTERM or SIGHUP. The process ends soon after. */
  readonly stopSignal: () => AbortSignal;
  /** Stops this process as SIGTERM does. */
  readonly stopProcess: () => void;
  /** Passes SIGINT, SIGTERM, SIGHUP and SIGQUIT to the listener; returns how to stop that. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => () => void;
  /** Ends the process after a while, even if something is still open. */
  readonly endSoon: () => void;
  /** Waits, at most until the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Listens to the keyboard; `undefined` if the input is not a terminal. */
  readonly keyPresses: () => Promise<KeyPresses | undefined>;
}

/** What a process or a test gives to `cli`, which adds the rest of `Io`. */
export type HostIo = Omit<Io, "program" | "stdout" | "stderr" | "sayFailure"> &
  Readonly<Record<"stdout" | "stderr", Output>>;

/** Whether this is a job of GitHub Actions, which shows certain lines of stderr as annotations. */
export function runsOnGithub({ env }: Pick<Io, "env">): boolean {
  return ["true", "1"].includes(env.GITHUB_ACTIONS ?? "");
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** What a command uses of its process. Also handles what nobody has caught. */
export function processIo(process: NodeJS.Process): HostIo {
  const stderr = createOutput(process.stderr, () => {});
  process.on("uncaughtException", (error) => {
    const { argv, env } = process;
    createPrinter(stderr, env).write(describeFailure(error, failureForm(argv.slice(2))));
    process.exit(exitCode.defect);
  });
  const stdout = createOutput(process.stdout, (error) => {
    stderr.write(`Failed to write to the standard output: ${fileFailure(error)}.\n`);
    // The command's exit code comes first. It is set before the process ends.
    process.once("exit", () => {
      process.exitCode ||= exitCode.usage;
    });
  });

  return {
    stdout,
    stderr,
    stdin: () => process.stdin,
    env: process.env,
    programFile: isSingleExecutable() ? process.execPath : runnableScript(process),
    get cwd() {
      try {
        return process.cwd();
      } catch {
        throw usageError("The working folder was deleted. Change to another one with cd, and run it again.");
      }
    },
    stopSignal: () => createStopSignal(process),
    // Only the listeners are called: on Windows, a signal ends a process immediately.
    stopProcess: () => void process.emit("SIGTERM", "SIGTERM"),
    takeSignals(listener) {
      const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
      for (const name of signals) process.on(name, listener);
      return () => {
        for (const name of signals) process.off(name, listener);
      };
    },
    endSoon: () => endSoon(process),
    async wait(milliseconds, signal) {
      // An abort rejects, which also ends the wait.
      await sleep(Math.min(milliseconds, longestTimer), undefined, { signal }).catch(() => {});
    },
    keyPresses: () => openKeyboard(process.stdin),
  };
}

/** The script of this process, if the system can run it. */
function runnableScript(process: NodeJS.Process): string | undefined {
  // Windows starts scripts with another file, which is on the PATH.
  if (process.platform === "win32") return undefined;
  const script = process.argv[1] ?? "";
  try {
    accessSync(script, fileConstants.X_OK);
    return script;
  } catch {
    return undefined;
  }
}

function createStopSignal(process: NodeJS.Process): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    // At a second signal, the process does not wait for open requests. A closed terminal can send several SIGHUPs.
    const isSecond = stopping.signal.aborted;
    if (isSecond && signal !== "SIGHUP") process.exit(128 + constants.signals[signal]);

    stopping.abort(signal);
    endSoon(process);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  return stopping.signal;
}

/** The process ends at most this long after the request to stop: open requests have 2 seconds. */
const stopWithinMs = 2500;

function endSoon(process: NodeJS.Process): void {
  const timer = setTimeout(() => process.exit(), stopWithinMs);
  // A process that has nothing left to do ends before.
  timer.unref();
}

/** The output of this process. Once a write has failed, nobody counts as reader. Reports that, unless the reader has closed the pipe. */
function createOutput(stream: NodeJS.WriteStream, reportFailure: (error: unknown) => void): Output {
  let hasFailed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (hasFailed) return;
    hasFailed = true;
    // A reader that has enough (`| head`) closes the pipe.
    const isClosedByReader = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (!isClosedByReader) reportFailure(error);
  });

  return {
    isTTY: stream.isTTY,
    // Windows are resized, so it is read each time. Some terminals report 0 for unknown.
    get columns() {
      return stream.columns || undefined;
    },
    write: (text, done) => stream.write(text, done),
    async waitForReader(until) {
      const mustWait = stream.writableNeedDrain && !hasFailed && !until.aborted;
      if (mustWait) {
        // A failed stream or an abort rejects, which also ends the wait.
        await once(stream, "drain", { signal: until }).catch(() => {});
      } else {
        // The event loop needs a turn to handle signals.
        await new Promise(setImmediate);
      }
      return !hasFailed;
    },
  };
}

/** The keyboard of a terminal, until it is closed. */
export interface KeyPresses {
  /** Resolves to the character of the next key, or to a name such as `return`, `space`, `left` or `ctrl-c`. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Listens to the keyboard of a terminal; `undefined` if the input is none. */
async function openKeyboard(input: ReadStream): Promise<KeyPresses | undefined> {
  if (input.isTTY !== true) return undefined;
  const { emitKeypressEvents } = process.getBuiltinModule("node:readline");
  emitKeypressEvents(input);
  input.setRawMode(true);
  // Keeps keys in order that are pressed before they are read.
  const presses = on(input, "keypress");
  input.resume();
  return {
    async next() {
      // Once it is closed, the value is missing.
      const { value = [] } = await presses.next();
      const [text = "", key = {}] = value as [string?, { name?: string; ctrl?: boolean }?];
      if (key.ctrl === true) return `ctrl-${key.name}`;
      return key.name ?? text;
    },
    close() {
      presses.return?.();
      input.setRawMode(false);
      // Reading a terminal keeps the process alive.
      input.pause();
    },
  };
}

/** Whether this program is the single executable. */
export function isSingleExecutable(): boolean {
  return process.getBuiltinModule("node:sea")?.isSea() ?? false;
}

/**
 * Where the user reads a page of the documentation, for a message: in the installed package; who has only the executable
 * has no files, and reads the pages of a sandbox. `part` is a heading of the page.
 */
export function docsPlace(page: string, part?: string): string {
  const anchor = part === undefined ? "" : `#${part}`;
  if (!isSingleExecutable()) return `docs/${page}.md${anchor} in the package`;
  return `${standardUrl}${controlPath}/docs/${page}${anchor} of a running sandbox`;
}

/** Where `start` listens by default. */
const standardHost = "127.0.0.1:4747";
export const standardUrl = `http://${standardHost}`;
