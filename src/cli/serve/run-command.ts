import type { ChildProcess, StdioOptions } from "node:child_process";
import { fstatSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import { isExecutable } from "../../node/platform.js";
import type { Io } from "../io.js";

export type CommandEnd =
  | { readonly kind: "ended"; readonly code: number; readonly isTimedOut: boolean }
  | { readonly kind: "not_run"; readonly failure: NodeJS.ErrnoException }
  /** By a signal that came before it started. */
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals };

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

  /** Passes later ones on; returns how to stop that. */
  passTo(listener: (signal: NodeJS.Signals) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signals: TakenSignals;
  /** Gets the output, except to a terminal: commands may write differently if they have none. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** With it, the command runs without input in its own process group, and the group is killed when it is late or has ended. */
  readonly isLate?: () => boolean;
}

const outputs = ["stdout", "stderr"] as const;
type StreamName = (typeof outputs)[number];

/** From the second signal on, or from the first one of a command with its own group. */
const killAfterMs = 5000;
/** For reading the rest of the output after the command's end. */
const outputGraceMs = 500;
const latenessIntervalMs = 100;

/** Kills the command at the third signal, or a while after the second. After a signal, the exit code is 128 plus its number. */
export function runCommand(
  line: readonly [string, ...string[]],
  options: CommandOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const signal = options.signals.first;
    if (signal !== undefined) return resolve({ kind: "stopped", signal });
    try {
      const child = spawnCommand(line, options);
      new RunningCommand(child, options, resolve);
    } catch (error) {
      resolve({ kind: "not_run", failure: error as NodeJS.ErrnoException });
    }
  });
}

/** A command under way: in this process's group, at its terminal, or in a group of its own, without input. */
class RunningCommand {
  readonly #child: ChildProcess;
  readonly #hasOwnGroup: boolean;
  readonly #resolve: (end: CommandEnd) => void;
  /** Functions that stop passing signals and output. */
  readonly #releases: (() => void)[] = [];
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
    if (isLate !== undefined) {
      this.#latenessTimer = setInterval(() => {
        if (isLate()) this.#killLate();
      }, latenessIntervalMs);
    }

    this.#releases.push(options.signals.passTo((signal) => this.#passSignal(signal)));
    for (const name of outputs) {
      this.#releases.push(passOutput(child, name, this.#hasOwnGroup, options.onOutput));
    }
    process.once("exit", this.#endWithUs);

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

    // The terminal has already sent it to the command. A signal only to this process looks the same and must be sent twice.
    if (isFirst && !this.#hasOwnGroup && isFromKeyboard(signal)) return;
    this.#send(isFirst || isSecond ? signal : "SIGKILL");
  }

  /** Reads what is left of the output after the command's exit. */
  #readRest(end: CommandEnd): void {
    const { stdout, stderr } = this.#child;
    if (stdout === null && stderr === null) {
      this.#end(end);
      return;
    }

    // Processes that the command has left keep its output open, and so it never closes.
    if (this.#hasOwnGroup) this.#send("SIGKILL");
    this.#outputTimer = setInterval(() => {
      // A slow reader of our output still gets all of it.
      const isPassing = !this.#hasOwnGroup && outputs.some((name) => process[name].writableNeedDrain);
      if (!isPassing) this.#end(end);
    }, outputGraceMs);
    this.#child.once("close", () => this.#end(end));
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

function spawnCommand(line: readonly [string, ...string[]], options: CommandOptions): ChildProcess {
  const [program, ...words] = line;
  const { cwd, env } = options;
  const hasOwnGroup = options.isLate !== undefined;
  const outputKind = (name: StreamName) => {
    if (hasOwnGroup) return "pipe";
    const isRead = options.onOutput !== undefined && !process[name].isTTY;
    return isRead ? "pipe" : "inherit";
  };
  const stdio: StdioOptions = [
    hasOwnGroup ? "ignore" : "inherit",
    outputKind("stdout"),
    outputKind("stderr"),
  ];
  const detached = hasOwnGroup && process.platform !== "win32";
  // On Windows, `npm`, `npx` and the like are batch files, which Node cannot start.
  return spawn(program, words, { cwd, env, stdio, detached });
}

/** Passes an output of a command on; returns how to stop that. */
function passOutput(
  child: ChildProcess,
  name: StreamName,
  hasOwnGroup: boolean,
  onOutput: CommandOptions["onOutput"],
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  if (!hasOwnGroup) stream?.pipe(process[name], { end: false });
  // Our reader has gone, so the command's reader also goes.
  const close = () => void stream?.destroy();
  process[name].once("error", close);
  return () => {
    process[name].off("error", close);
    // A stream that is destroyed before its end would leave its listeners.
    stream?.unpipe(process[name]);
  };
}

// Windows has no process groups; kills the command's process tree.
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    if (process.platform !== "win32") process.kill(-pid, signal);
    else spawn.sync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
  } catch {
    // The group has already ended.
  }
}

// The terminal sends it to its foreground process group. On Windows, all are: sending one would end the process.
function isFromKeyboard(signal: NodeJS.Signals): boolean {
  if (process.platform === "win32") return true;
  return (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
}

interface DetachedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: boolean;
  readonly signal: AbortSignal;
  readonly onStderr: (text: string) => void;
}

interface Start {
  readonly line?: string;
  readonly code?: number | null;
  readonly by?: NodeJS.Signals | null;
}

/** Detached from this process and its terminal. If stderr is a file, the new process also writes to it. */
export async function startDetached(words: readonly string[], options: DetachedOptions): Promise<Start> {
  const { cwd, env, signal } = options;
  // A single executable has no script.
  const script = isExecutable() ? [] : [...process.execArgv, process.argv[1] as string];
  const stdin = options.stdin ? "inherit" : "ignore";
  const stderr = fstatSync(2).isFile() ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...script, ...words], {
    cwd,
    env,
    signal,
    detached: true,
    windowsHide: true,
    stdio: [stdin, "pipe", stderr],
  });
  child.stderr?.setEncoding("utf8").on("data", options.onStderr);

  let printed = "";
  const start = await new Promise<Start>((resolve, reject) => {
    child.on("close", (code, by) => resolve({ code, by }));
    child.on("error", (error) => {
      if (!signal.aborted) reject(error);
    });
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      printed += text;
      if (printed.endsWith("\n")) resolve({ line: printed });
    });
  });

  // Reads the output on stderr from before that line.
  await new Promise(setImmediate);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
  return start;
}
