import { on, once } from "node:events";
import { accessSync, constants as fileConstants } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { fileFailure } from "../node/files/write-file.js";
import { isExecutable } from "../node/platform.js";
import { describeFailure, exitCode, usageError } from "./exit-codes.js";
import type { Output, Printer } from "./terminal.js";

/** The keyboard of a terminal, until it is closed. */
export interface KeyPresses {
  /** Resolves to the character of the next key, or to a name such as `return`, `space`, `left` or `ctrl-c`. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Everything that a command uses of its process, so that tests can run it in theirs. */
export interface Io {
  readonly stdout: Printer;
  readonly stderr: Printer;
  /** The input for `-` instead of a scenario file. */
  readonly stdin?: Readable & { unref?(): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly program: string;
  /** The file that starts this program; `undefined` if the system cannot run that file. */
  readonly executable?: string | undefined;
  readonly cwd: string;
  /** Aborted at SIGINT, SIGTERM or SIGHUP. The process ends soon after; with SIGTERM `drain` milliseconds (default 0) later. */
  readonly stopSignal: (drain?: number) => AbortSignal;
  readonly stop: () => void;
  /** Passes SIGINT, SIGTERM, SIGHUP and SIGQUIT to the listener; returns how to stop that. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => () => void;
  readonly endSoon: () => void;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Listens to the keyboard; `undefined` if the input is not a terminal. */
  readonly keyPresses: () => Promise<KeyPresses | undefined>;
}

export type GivenIo = Omit<Io, "program" | "stdout" | "stderr"> &
  Readonly<Record<"stdout" | "stderr", Output>>;

/** Splits the arguments at `--`, which starts the command line of another program. */
export function splitAtDashes(
  argv: readonly string[],
): [ownWords: readonly string[], rest: readonly string[]] {
  const index = argv.indexOf("--");
  if (index === -1) return [argv, []];
  return [argv.slice(0, index), argv.slice(index + 1)];
}

const wordsForUnset = ["", "0", "false", "no", "off"];

/** Returns how to describe an error: as JSON if a program reads it. Also works if the command line cannot be read. */
export function errorFormOf(argv: readonly string[], env: Io["env"]) {
  const [ownWords] = splitAtDashes(argv);
  const isSet = (value = "") => !wordsForUnset.includes(value.toLowerCase());
  const hasJsonFormat = /(?:^| )--format[ =]json(?= |$)/.test(ownWords.join(" "));
  return {
    verbose: ownWords.includes("--verbose") || isSet(env.SVC_SANDBOX_VERBOSE),
    json: hasJsonFormat || ownWords.includes("--json") || isSet(env.SVC_SANDBOX_JSON),
  };
}

/** Whether annotations on stderr are read. */
export function runsOnGithub({ env }: Pick<Io, "env">): boolean {
  return ["true", "1"].includes(env.GITHUB_ACTIONS ?? "");
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** What a command uses of its process. Also handles what nobody has caught. */
export function processIo(process: NodeJS.Process): GivenIo {
  const stderr = outputOf(process.stderr);
  process.on("uncaughtException", (error) => {
    stderr.write(describeFailure(error, errorFormOf(process.argv, process.env)));
    process.exit(exitCode.defect);
  });

  const stdoutFailed = (error: unknown) => {
    stderr.write(`Failed to write to the standard output: ${fileFailure(error)}.\n`);
    // The command's exit code is already set.
    process.once("exit", () => {
      process.exitCode ||= exitCode.usage;
    });
  };

  const cwd = workingFolder(process);
  return {
    stdout: outputOf(process.stdout, stdoutFailed),
    stderr,
    get stdin() {
      return process.stdin;
    },
    env: process.env,
    executable: isExecutable() ? process.execPath : scriptIn(process),
    get cwd() {
      if (cwd !== undefined) return cwd;
      throw usageError("The working folder was deleted. Change to another one with cd, and run it again.");
    },
    stopSignal: (drain) => stopSignalOf(process, drain),
    // Only the listeners: on Windows a signal ends a process immediately.
    stop: () => void process.emit("SIGTERM", "SIGTERM"),
    takeSignals: (listener) => takeSignals(process, listener),
    endSoon: () => endSoon(process),
    // An abort rejects, which also ends the wait.
    wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
    keyPresses: () => keyPressesOf(process.stdin),
  };
}

function workingFolder(process: NodeJS.Process): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

function scriptIn(process: NodeJS.Process): string | undefined {
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

/** Drops what cannot be written, and tries again with the next text. Reports the first failure that is not a closed pipe. */
function outputOf(stream: NodeJS.WriteStream, failed: (error: unknown) => void = () => {}): Output {
  let isClosed = false;
  let hasFailed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    isClosed = true;
    // A reader that has enough (`| head`) closes the pipe.
    const isClosedByReader = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (isClosedByReader || hasFailed) return;
    hasFailed = true;
    failed(error);
  });

  return {
    isTTY: stream.isTTY,
    // Read each time, because windows are resized. Some terminals report 0 for unknown.
    get columns() {
      return stream.columns || undefined;
    },
    write: (text, done) => stream.write(text, done),
    async room(until) {
      const mustWait = stream.writableNeedDrain && !isClosed && !until.aborted;
      if (mustWait) {
        // A failed stream or an abort rejects, which also ends the wait.
        await once(stream, "drain", { signal: until }).catch(() => {});
      } else {
        // The event loop needs a turn to handle signals.
        await new Promise(setImmediate);
      }
      return !isClosed;
    },
  };
}

/** The process ends at most this long after the request to stop: open requests have 2 seconds. */
const stopWithin = 2500;

function stopSignalOf(process: NodeJS.Process, drain = 0): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    const isSecond = stopping.signal.aborted;
    // It does not wait for open requests. A closed terminal can send several SIGHUPs.
    if (isSecond && signal !== "SIGHUP") process.exit(128 + constants.signals[signal]);
    stopping.abort(signal);
    endSoon(process, signal === "SIGTERM" ? drain : 0);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  return stopping.signal;
}

function takeSignals(process: NodeJS.Process, listener: (signal: NodeJS.Signals) => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
  for (const name of signals) process.on(name, listener);
  return () => {
    for (const name of signals) process.off(name, listener);
  };
}

// The timer keeps nothing alive.
function endSoon(process: NodeJS.Process, later = 0): void {
  setTimeout(() => process.exit(), later + stopWithin).unref();
}

async function keyPressesOf(input: ReadStream): Promise<KeyPresses | undefined> {
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
