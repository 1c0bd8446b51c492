import type { ChildProcess, StdioOptions } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import type { Io } from "./io.js";

// Runs a command of the user as a child process. Its terminal is shared or none:
//
//                               shared, for `exec`                       none, for `certify`
//   its process group           ours: Ctrl-C reaches both                its own
//   its input                   ours                                     none
//   its output                  read, and written to ours                read
//   what it has left behind     stays                                    killed
//   the end of this process     SIGTERM                                  killed
//   the first signal            passed on, but for a terminal's Ctrl-C   passed on, and 5 seconds later killed
//   the second signal           passed on, and 5 seconds later killed    passed on
//   the third signal            killed                                   killed

/** How a command has ended, or why it has not run. */
export type CommandEnd =
  | { readonly kind: "ended"; readonly code: number; readonly isTimedOut: boolean }
  | { readonly kind: "not_run"; readonly failure: NodeJS.ErrnoException }
  /** A signal came before the command started. */
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: "shared" | "none";
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
  const { terminal, signals } = options;
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
    // Its own group has what the command has started, too.
    if (terminal === "none") signalGroup(child, signal);
    else child.kill(signal);
  };

  const endWithUs = () => send(terminal === "none" ? "SIGKILL" : "SIGTERM");
  atEnd.add(endWithUs);
  const ended = new AbortController();
  const undoSteps = [
    () => ended.abort(),
    () => void atEnd.delete(endWithUs),
    passSignals(options, send),
    passOutput(child, "stdout", options),
    passOutput(child, "stderr", options),
  ];
  try {
    const first = await Promise.race([exit, lateness(options.isLate, ended.signal)]);
    if (first === "late") send("SIGKILL");
    const code = await exit;
    if (typeof code !== "number") return { kind: "not_run", failure: code };

    // Processes that the command has left keep its output open: those of its group are killed.
    if (terminal === "none") send("SIGKILL");
    await endOfOutput(closed, terminal);
    return { kind: "ended", code, isTimedOut: first === "late" };
  } finally {
    for (const undo of undoSteps) undo();
  }
}

function spawnCommand(line: readonly [string, ...string[]], options: CommandOptions): ChildProcess {
  const [program, ...words] = line;
  const { cwd, env, terminal, onOutput } = options;
  let stdio: StdioOptions = ["ignore", "pipe", "pipe"];
  if (terminal === "shared") {
    const isRead = (name: "stdout" | "stderr") => onOutput !== undefined && !process[name].isTTY;
    stdio = ["inherit", isRead("stdout") ? "pipe" : "inherit", isRead("stderr") ? "pipe" : "inherit"];
  }
  const detached = terminal === "none" && process.platform !== "win32";
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

/** Resolves once the time of a command is up. The end of the command rejects it. */
async function lateness(isLate: CommandOptions["isLate"], ended: AbortSignal): Promise<"late"> {
  while (!isLate?.()) await sleep(latenessIntervalMs, undefined, { signal: ended });
  return "late";
}

/** Resolves at the end of the output. A process outside the group may keep it open forever, so the reading ends after a while, but not while our own output has a slow reader. */
async function endOfOutput(closed: Promise<void>, terminal: CommandOptions["terminal"]): Promise<void> {
  for (;;) {
    const first = await Promise.race([closed, sleep(outputGraceMs, "late" as const, { ref: false })]);
    if (first !== "late") return;
    const hasSlowReader = process.stdout.writableNeedDrain || process.stderr.writableNeedDrain;
    if (terminal === "none" || !hasSlowReader) return;
  }
}

/** Passes the signals of this process to its command, as the table of this file shows; returns how to stop that. */
function passSignals(
  { signals, terminal }: CommandOptions,
  send: (signal: NodeJS.Signals) => void,
): () => void {
  let count = 0;
  let killTimer: NodeJS.Timeout | undefined;
  const stopPassing = signals.passTo((signal) => {
    count += 1;
    if (count > 2) {
      send("SIGKILL");
      return;
    }

    // Nobody waits at a terminal for a command without one.
    const timedSignal = terminal === "none" ? 1 : 2;
    if (count === timedSignal) killTimer = setTimeout(() => send("SIGKILL"), killAfterMs);
    // A signal that was only for this process looks as if it were from the terminal. So the second one is always passed on.
    // On Windows, each signal is from the terminal, and sending one would end the process.
    const isOfKeyboard = (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
    const isFromTerminal = process.platform === "win32" || isOfKeyboard;
    if (terminal === "shared" && count === 1 && isFromTerminal) return;
    send(signal);
  });
  return () => {
    stopPassing();
    clearTimeout(killTimer);
  };
}

/** Gives an output of a command to `onOutput`, and writes it to ours if they share a terminal; returns how to stop that. */
function passOutput(
  child: ChildProcess,
  name: "stdout" | "stderr",
  { terminal, onOutput }: CommandOptions,
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  // A process outside the group may keep it open.
  const close = () => void stream?.destroy();
  if (terminal === "none") return close;

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
