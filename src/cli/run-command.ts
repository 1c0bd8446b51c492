import type { ChildProcess, StdioOptions } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import type { Io } from "./io.js";

// Runs a command of the user as a child process, at one of two places:
// - `at_terminal`, for `exec`: in the process group of this process, whose terminal it reads. Its output is also ours. The
//   terminal sends Ctrl-C to both.
// - `own_group`, for `certify`: in a process group of its own, without input. Its output is only read. When it has ended, what
//   it has started is killed.
// When this process ends, a command that still runs gets SIGTERM, and an own group is killed. A signal to this process:
//
//               at_terminal                              own_group
//   the first   passed on, but for a terminal's Ctrl-C   passed on, and 5 seconds later killed
//   the second  passed on, and 5 seconds later killed    passed on
//   the third   killed                                   killed

/** How a command has ended, or why it has not run. */
export type CommandEnd =
  | { readonly kind: "ended"; readonly code: number; readonly isTimedOut: boolean }
  | { readonly kind: "not_run"; readonly failure: NodeJS.ErrnoException }
  /** A signal came before the command started. */
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: "at_terminal" | "own_group";
  readonly signals: TakenSignals;
  /** Gets the output, except to a terminal: commands may write differently if they have none. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** Whether the time of the command is up, and it is to be killed. Default: never. */
  readonly isLate?: () => boolean;
}

/** How long a command has to end itself after the signal that starts this time. */
const killAfterMs = 5000;
/** How long the rest of the output is read after the command's end. */
const outputGraceMs = 500;
const latenessIntervalMs = 100;

/** Runs a command to its end. Its exit code after a signal is 128 plus the number of the signal. */
export async function runCommand(
  line: readonly [string, ...string[]],
  options: CommandOptions,
): Promise<CommandEnd> {
  const { place, signals, isLate } = options;
  if (signals.first !== undefined) return { kind: "stopped", signal: signals.first };

  let child: ChildProcess;
  try {
    child = spawnCommand(line, options);
  } catch (error) {
    return { kind: "not_run", failure: error as NodeJS.ErrnoException };
  }
  const exit = exitOf(child);
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const send = (signal: NodeJS.Signals) => {
    // An own group has what the command has started, too.
    if (place === "own_group") signalGroup(child, signal);
    else child.kill(signal);
  };

  // Three things end it from outside: its time, signals, and the end of this process.
  let isTimedOut = false;
  const killIfLate = () => {
    if (!isLate?.()) return;
    isTimedOut = true;
    send("SIGKILL");
  };
  const lateness = isLate && setInterval(killIfLate, latenessIntervalMs);
  const signalled = passSignals(options, send);
  const endWithUs = () => send(place === "own_group" ? "SIGKILL" : "SIGTERM");
  atEnd.add(endWithUs);

  const passing = [passOutput(child, "stdout", options), passOutput(child, "stderr", options)];
  let grace: NodeJS.Timeout | undefined;
  try {
    const code = await exit;
    // What it has left may keep its output open until its time is up: it still ended in time.
    clearInterval(lateness);
    if (typeof code !== "number") return { kind: "not_run", failure: code };

    // Processes that the command has left keep its output open: those of its group are killed.
    if (place === "own_group") send("SIGKILL");
    // A process outside the group may keep it open forever, so the reading ends after a while, but not while our own output has a slow reader.
    await new Promise<void>((resolve) => {
      void closed.then(resolve);
      grace = setInterval(() => {
        const isPassedOn = place === "at_terminal";
        const hasSlowReader = process.stdout.writableNeedDrain || process.stderr.writableNeedDrain;
        if (!isPassedOn || !hasSlowReader) resolve();
      }, outputGraceMs);
    });
    return { kind: "ended", code, isTimedOut };
  } finally {
    clearInterval(lateness);
    clearInterval(grace);
    signalled.stop();
    atEnd.delete(endWithUs);
    for (const stopPassing of passing) stopPassing();
  }
}

function spawnCommand(line: readonly [string, ...string[]], options: CommandOptions): ChildProcess {
  const [program, ...words] = line;
  const { cwd, env } = options;
  const hasOwnGroup = options.place === "own_group";
  const outputKind = (name: "stdout" | "stderr") => {
    if (hasOwnGroup) return "pipe";
    const isRead = options.onOutput !== undefined && !process[name].isTTY;
    return isRead ? "pipe" : "inherit";
  };
  const input = hasOwnGroup ? "ignore" : "inherit";
  const stdio: StdioOptions = [input, outputKind("stdout"), outputKind("stderr")];
  const detached = hasOwnGroup && process.platform !== "win32";
  // On Windows, `npm`, `npx` and the like are batch files, which Node cannot start.
  return spawn(program, words, { cwd, env, stdio, detached });
}

/** Resolves to the exit code of a command, or to why it has not run. */
function exitOf(child: ChildProcess): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows, cross-spawn reports a missing command this way after cmd.exe has run.
      const hasNotRun = child.pid === undefined || failure.code === "ENOENT";
      if (hasNotRun) resolve(failure);
    });
    child.on("exit", (code, signal) => {
      resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]);
    });
  });
}

/** Passes the signals of this process to its command, as the table of this file shows. */
function passSignals({ signals, place }: CommandOptions, send: (signal: NodeJS.Signals) => void) {
  let count = 0;
  let killTimer: NodeJS.Timeout | undefined;
  const stopPassing = signals.passTo((signal) => {
    count += 1;
    if (count > 2) {
      send("SIGKILL");
      return;
    }

    // Nobody waits at a terminal for an own group.
    const timedSignal = place === "own_group" ? 1 : 2;
    if (count === timedSignal) killTimer = setTimeout(() => send("SIGKILL"), killAfterMs);
    // A signal that was only for this process looks as if it were from the terminal. So the second one is always passed on.
    // On Windows, each signal is from the terminal, and sending one would end the process.
    const isOfKeyboard = (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
    const isFromTerminal = process.platform === "win32" || isOfKeyboard;
    if (place === "at_terminal" && count === 1 && isFromTerminal) return;
    send(signal);
  });
  return {
    stop() {
      stopPassing();
      clearTimeout(killTimer);
    },
  };
}

/** Gives an output of a command to `onOutput`, and at the terminal to this process's output; returns how to stop that. */
function passOutput(
  child: ChildProcess,
  name: "stdout" | "stderr",
  { place, onOutput }: CommandOptions,
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  // A process outside the group may keep it open.
  const close = () => void stream?.destroy();
  if (place === "own_group") return close;

  const output = process[name];
  stream?.pipe(output, { end: false });
  // If nobody reads our output any more, nobody reads the command's.
  output.on("error", close);
  return () => {
    output.off("error", close);
    // A stream that is destroyed before its end would leave its listeners.
    stream?.unpipe(output);
    close();
  };
}

/** Windows has no process groups: the command and the processes that it has started are killed. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    if (process.platform !== "win32") process.kill(-pid, signal);
    else spawn.sync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
  } catch {
    // The group has already ended.
  }
}

/** The signals that this process gets while it prepares and runs commands. */
export class TakenSignals {
  readonly #listeners = new Set<(signal: NodeJS.Signals) => void>();
  #first: NodeJS.Signals | undefined;
  /** Stops taking signals. */
  readonly release: () => void;

  constructor({ takeSignals }: Pick<Io, "takeSignals">) {
    this.release = takeSignals((signal) => {
      this.#first ??= signal;
      for (const listener of this.#listeners) listener(signal);
    });
  }

  get first(): NodeJS.Signals | undefined {
    return this.#first;
  }

  /** Passes later signals on; returns how to stop that. */
  passTo(listener: (signal: NodeJS.Signals) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
/** What to do when this process ends. One listener for all: Node warns of more than ten, and `certify` has some for each run. */
export const atEnd = new Set<() => void>();

process.on("exit", () => {
  for (const step of atEnd) step();
});
