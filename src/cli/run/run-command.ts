// Runs a command of the user as a child process, in one of two ways:
// - `exec`: in the process group of this process, at its terminal. The terminal sends Ctrl-C to both, and the command reads
//   the input.
// - `certify` (with `isLate`): in its own group, without input. It is killed with all that it has started, when it is late
//   and when it has ended.
// When this process ends, a command that still runs gets SIGTERM, and one with its own group is killed.

import type { ChildProcess, StdioOptions } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import type { Io } from "../io.js";
import { processEnd, SharedListener } from "./shared-listener.js";

/** How a command has ended, or why it has not run. */
export type CommandEnd =
  | { readonly kind: "ended"; readonly code: number; readonly isTimedOut: boolean }
  | { readonly kind: "not_run"; readonly failure: NodeJS.ErrnoException }
  /** A signal came before the command started. */
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signals: TakenSignals;
  /** Gets the output, except to a terminal: commands may write differently if they have none. */
  readonly onOutput?: (stream: StreamName, chunk: Buffer) => void;
  /** With it, the command runs without input in its own process group, and the group is killed when it is late or has ended. */
  readonly isLate?: () => boolean;
}

const outputs = ["stdout", "stderr"] as const;
type StreamName = (typeof outputs)[number];

/** What to do when nobody reads an output of this process any more. */
const outputErrors: Readonly<Record<StreamName, SharedListener>> = {
  stdout: new SharedListener(process.stdout, "error"),
  stderr: new SharedListener(process.stderr, "error"),
};

/** How long a command has to end itself: after the second signal, or after the first one if it has its own group. */
const killAfterMs = 5000;
/** How long the rest of the output is read after the command's end. */
const outputGraceMs = 500;
const latenessIntervalMs = 100;

/** The signals that this process gets while it prepares and runs commands. */
export class TakenSignals {
  readonly #listeners = new Set<(signal: NodeJS.Signals) => void>();
  #first: NodeJS.Signals | undefined;
  /** Stops taking them. */
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

/**
 * Runs a command to its end. Its exit code after a signal is 128 plus the number of the signal. The third signal kills it,
 * or the time after the second.
 */
export async function runCommand(
  line: readonly [string, ...string[]],
  options: CommandOptions,
): Promise<CommandEnd> {
  const signal = options.signals.first;
  if (signal !== undefined) return { kind: "stopped", signal };

  let child: ChildProcess;
  try {
    child = spawnCommand(line, options);
  } catch (error) {
    return { kind: "not_run", failure: error as NodeJS.ErrnoException };
  }
  return new Promise((resolve) => {
    new RunningCommand(child, options, resolve);
  });
}

function spawnCommand(line: readonly [string, ...string[]], options: CommandOptions): ChildProcess {
  const [program, ...words] = line;
  const { cwd, env } = options;
  const hasOwnGroup = options.isLate !== undefined;
  const outputKind = (name: StreamName) => {
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

/** A command under way, until it calls `resolve`. */
class RunningCommand {
  readonly #child: ChildProcess;
  /** Whether it runs in its own process group and without input. If not, it is in this process's group, at its terminal. */
  readonly #hasOwnGroup: boolean;
  readonly #resolve: (end: CommandEnd) => void;
  /** Ends all that lasts as long as the command: timers, and what passes signals and output. */
  readonly #cleanups: (() => void)[] = [];
  #isTimedOut = false;
  #signalCount = 0;

  constructor(child: ChildProcess, options: CommandOptions, resolve: (end: CommandEnd) => void) {
    const { isLate, signals, onOutput } = options;
    this.#child = child;
    this.#hasOwnGroup = isLate !== undefined;
    this.#resolve = resolve;

    // Three things end it from outside: its time, a signal, and the end of this process.
    if (isLate !== undefined) {
      this.#repeat(latenessIntervalMs, () => {
        if (isLate()) this.#killLate();
      });
    }
    this.#cleanups.push(signals.passTo((signal) => this.#passSignal(signal)));
    const endWithUs = () => this.#send(this.#hasOwnGroup ? "SIGKILL" : "SIGTERM");
    processEnd.add(endWithUs);
    this.#cleanups.push(() => processEnd.remove(endWithUs));

    for (const name of outputs) {
      this.#cleanups.push(passOutput(child, name, this.#hasOwnGroup, onOutput));
    }

    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows, cross-spawn reports a missing command this way after cmd.exe has run.
      if (child.pid === undefined || failure.code === "ENOENT") this.#end({ kind: "not_run", failure });
    });
    child.on("exit", (exitCode, signal) => {
      const code = exitCode ?? 128 + constants.signals[signal as NodeJS.Signals];
      this.#readRest({ kind: "ended", code, isTimedOut: this.#isTimedOut });
    });
  }

  #repeat(milliseconds: number, step: () => void): void {
    const timer = setInterval(step, milliseconds);
    this.#cleanups.push(() => clearInterval(timer));
  }

  #send(signal: NodeJS.Signals): void {
    if (this.#hasOwnGroup) signalGroup(this.#child, signal);
    else this.#child.kill(signal);
  }

  #killLate(): void {
    this.#isTimedOut = true;
    this.#send("SIGKILL");
  }

  #killSoon(): void {
    const timer = setTimeout(() => this.#send("SIGKILL"), killAfterMs);
    this.#cleanups.push(() => clearTimeout(timer));
  }

  /** The first two signals ask the command to end, and the third one kills it. */
  #passSignal(signal: NodeJS.Signals): void {
    this.#signalCount += 1;
    if (this.#signalCount > 2) {
      this.#send("SIGKILL");
      return;
    }

    // After the second signal, the command has some time. Nobody at a terminal waits for one with its own group: it has that time after the first.
    const isLastWarning = this.#signalCount === (this.#hasOwnGroup ? 1 : 2);
    if (isLastWarning) this.#killSoon();

    // The terminal has sent its signal to the command, too. A signal only to this process looks the same, so the second one is always sent.
    const hasGotIt = this.#signalCount === 1 && !this.#hasOwnGroup && isFromTerminal(signal);
    if (!hasGotIt) this.#send(signal);
  }

  /** Ends once the output that is left after the command's exit is read. */
  #readRest(end: CommandEnd): void {
    const { stdout, stderr } = this.#child;
    if (stdout === null && stderr === null) {
      this.#end(end);
      return;
    }

    // Processes that the command has left keep its output open: those of its group are killed.
    if (this.#hasOwnGroup) this.#send("SIGKILL");
    this.#child.once("close", () => this.#end(end));
    // A process outside the group may keep it open for ever, so the reading ends after a while, but not while our own output has a slow reader.
    this.#repeat(outputGraceMs, () => {
      const hasSlowReader = !this.#hasOwnGroup && outputs.some((name) => process[name].writableNeedDrain);
      if (!hasSlowReader) this.#end(end);
    });
  }

  #end(end: CommandEnd): void {
    for (const cleanUp of this.#cleanups) cleanUp();
    // A process outside the group may keep them open.
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#resolve(end);
  }
}

/** Gives an output of a command to `onOutput`, and to this process's output unless the command has its own group; returns how to stop that. */
function passOutput(
  child: ChildProcess,
  name: StreamName,
  hasOwnGroup: boolean,
  onOutput: CommandOptions["onOutput"],
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  if (!hasOwnGroup) stream?.pipe(process[name], { end: false });
  // If nobody reads our output any more, nobody reads the command's.
  const close = () => void stream?.destroy();
  outputErrors[name].add(close);
  return () => {
    outputErrors[name].remove(close);
    // A stream that is destroyed before its end would leave its listeners.
    stream?.unpipe(process[name]);
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

/** Whether a terminal has sent a signal, which all processes of its foreground group get. */
function isFromTerminal(signal: NodeJS.Signals): boolean {
  // On Windows, each signal is from there, and sending one would end the process.
  if (process.platform === "win32") return true;
  return (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
}
