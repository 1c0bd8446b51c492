// Runs a command of the user as a child process, in one of two ways:
// - `exec`: in the process group of this process, at its terminal. The terminal sends Ctrl-C to both, and the command reads
//   the input.
// - `certify` (with `isLate`): in its own group, without input. It is killed with all that it has started, when it is late
//   and when it has ended.
// It never outlives this process.

import type { ChildProcess, StdioOptions } from "node:child_process";
import { fstatSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import { isExecutable } from "../executable.js";
import type { Io } from "../io.js";

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
  /** Functions that stop passing signals and output. */
  readonly #releases: (() => void)[] = [];
  /** Ends the command when this process exits. */
  readonly #endWithUs = () => void this.#send(this.#hasOwnGroup ? "SIGKILL" : "SIGTERM");
  #isTimedOut = false;
  #signalCount = 0;
  #killTimer: NodeJS.Timeout | undefined;
  #latenessTimer: NodeJS.Timeout | undefined;
  #outputTimer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, options: CommandOptions, resolve: (end: CommandEnd) => void) {
    const { isLate } = options;
    this.#child = child;
    this.#hasOwnGroup = isLate !== undefined;
    this.#resolve = resolve;

    // Three things end it from outside: its time, a signal, and the end of this process.
    if (isLate !== undefined) {
      this.#latenessTimer = setInterval(() => {
        if (isLate()) this.#killLate();
      }, latenessIntervalMs);
    }
    this.#releases.push(options.signals.passTo((signal) => this.#passSignal(signal)));
    process.once("exit", this.#endWithUs);

    for (const name of outputs) {
      this.#releases.push(passOutput(child, name, this.#hasOwnGroup, options.onOutput));
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

  #send(signal: NodeJS.Signals): void {
    if (this.#hasOwnGroup) signalGroup(this.#child, signal);
    else this.#child.kill(signal);
  }

  #killLate(): void {
    this.#isTimedOut = true;
    this.#send("SIGKILL");
  }

  #passSignal(signal: NodeJS.Signals): void {
    this.#signalCount += 1;
    const isFirst = this.#signalCount === 1;
    const isSecond = this.#signalCount === 2;

    // A command with its own group is killed sooner: nobody at a terminal waits for it.
    const startsKillTimer = this.#hasOwnGroup ? isFirst : isSecond;
    if (startsKillTimer) this.#killTimer = setTimeout(() => this.#send("SIGKILL"), killAfterMs);

    // The terminal has already sent it to the command. A signal only to this process looks like that, and must be sent twice.
    if (isFirst && !this.#hasOwnGroup && isFromTerminal(signal)) return;
    this.#send(isFirst || isSecond ? signal : "SIGKILL");
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
    // Others may keep it open for ever, so it ends after a while, but a slow reader of our output still gets all of it.
    this.#outputTimer = setInterval(() => {
      const isPassing = !this.#hasOwnGroup && outputs.some((name) => process[name].writableNeedDrain);
      if (!isPassing) this.#end(end);
    }, outputGraceMs);
  }

  #end(end: CommandEnd): void {
    clearTimeout(this.#killTimer);
    clearInterval(this.#latenessTimer);
    clearInterval(this.#outputTimer);
    for (const release of this.#releases) release();
    // A process outside the group may keep them open.
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    process.off("exit", this.#endWithUs);
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
  process[name].once("error", close);
  return () => {
    process[name].off("error", close);
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

interface DetachedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the new process reads the input of this one. */
  readonly inheritsStdin: boolean;
  readonly signal: AbortSignal;
  readonly onStderr: (text: string) => void;
}

/** What came first: the line that the new process prints when it is ready, or its end. */
type DetachedStart =
  | { readonly kind: "ready"; readonly line: string }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Starts this program again, detached from this process and its terminal. If stderr is a file, the new process also writes to it. */
export async function startDetached(
  argv: readonly string[],
  options: DetachedOptions,
): Promise<DetachedStart> {
  const { cwd, env, signal } = options;
  // A single executable has no script.
  const script = isExecutable() ? [] : [...process.execArgv, process.argv[1] as string];
  const stdin = options.inheritsStdin ? "inherit" : "ignore";
  const stderr = fstatSync(2).isFile() ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...script, ...argv], {
    cwd,
    env,
    signal,
    detached: true,
    windowsHide: true,
    stdio: [stdin, "pipe", stderr],
  });
  child.stderr?.setEncoding("utf8").on("data", options.onStderr);

  let printed = "";
  const start = await new Promise<DetachedStart>((resolve, reject) => {
    child.on("close", (code, endSignal) => resolve({ kind: "ended", code, signal: endSignal }));
    child.on("error", (error) => {
      if (!signal.aborted) reject(error);
    });
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      printed += text;
      if (printed.endsWith("\n")) resolve({ kind: "ready", line: printed });
    });
  });

  // What it has written to stderr before that line arrives first.
  await new Promise(setImmediate);
  child.stdout?.destroy();
  child.stderr?.destroy();
  // The new process does not keep this one alive.
  child.unref();
  return start;
}
