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
/** Milliseconds until a command is killed after the second signal, or in the background after the first. */
const timeouts = 5000;
/** Milliseconds for reading the rest of the output after the command's end. */
const lastWords = 500;

/** Kills the command at the third signal, or a while after the second. After a signal, the exit code is 128 plus its number. */
export function runCommand(
  line: readonly [string, ...string[]],
  options: CommandOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const signal = options.signals.first;
    if (signal !== undefined) return resolve({ kind: "stopped", signal });
    try {
      new RunningCommand(spawnCommand(line, options.isLate !== undefined, options), options, resolve);
    } catch (error) {
      resolve({ kind: "not_run", failure: error as NodeJS.ErrnoException });
    }
  });
}

class RunningCommand {
  readonly #child: ChildProcess;
  readonly #isApart: boolean;
  readonly #resolve: (end: CommandEnd) => void;
  readonly #releases: readonly (() => void)[];
  readonly #endWithUs = () => void this.#send(this.#isApart ? "SIGKILL" : "SIGTERM");
  #isTimedOut = false;
  #signalCount = 0;
  #deadline: NodeJS.Timeout | undefined;
  #lateness: NodeJS.Timeout | undefined;
  #unread: NodeJS.Timeout | undefined;

  constructor(
    child: ChildProcess,
    { signals, isLate, onOutput }: CommandOptions,
    resolve: (end: CommandEnd) => void,
  ) {
    this.#child = child;
    this.#isApart = isLate !== undefined;
    this.#resolve = resolve;
    if (isLate) this.#lateness = setInterval(() => isLate() && this.#killLate(), 100);
    this.#releases = [
      signals.passTo((signal) => this.#passSignal(signal)),
      ...outputs.map((name) => passOutput(child, name, this.#isApart, onOutput)),
    ];
    process.once("exit", this.#endWithUs);
    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows, cross-spawn reports a missing command this way after cmd.exe has run.
      if (child.pid === undefined || failure.code === "ENOENT") this.#end({ kind: "not_run", failure });
    });
    child.on("exit", (code, signal) => {
      this.#readRest({
        kind: "ended",
        code: code ?? 128 + constants.signals[signal as NodeJS.Signals],
        isTimedOut: this.#isTimedOut,
      });
    });
  }

  #send(signal: NodeJS.Signals): void {
    if (this.#isApart) signalGroup(this.#child, signal);
    else this.#child.kill(signal);
  }

  #killLate(): void {
    this.#isTimedOut = true;
    this.#send("SIGKILL");
  }

  #passSignal(signal: NodeJS.Signals): void {
    this.#signalCount += 1;
    const count = this.#signalCount;
    // A command in the background is killed sooner, after the first signal.
    if (count === (this.#isApart ? 1 : 2)) this.#deadline = setTimeout(() => this.#send("SIGKILL"), timeouts);
    // The terminal has already sent it to the command. A signal only to this process looks the same and must be sent twice.
    if (count === 1 && !this.#isApart && isFromKeyboard(signal)) return;
    this.#send(count < 3 ? signal : "SIGKILL");
  }

  /** Reads what is left of the output after the command's exit. */
  #readRest(end: CommandEnd): void {
    const { stdout, stderr } = this.#child;
    if (stdout === null && stderr === null) {
      this.#end(end);
      return;
    }
    if (this.#isApart) this.#send("SIGKILL");
    const isPassing = () => !this.#isApart && outputs.some((name) => process[name].writableNeedDrain);
    this.#unread = setInterval(() => isPassing() || this.#end(end), lastWords);
    this.#child.once("close", () => this.#end(end));
  }

  #end(end: CommandEnd): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#lateness);
    clearInterval(this.#unread);
    for (const release of this.#releases) release();
    // A process outside the group may keep them open.
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    process.off("exit", this.#endWithUs);
    this.#resolve(end);
  }
}

function spawnCommand(
  [program, ...words]: readonly [string, ...string[]],
  isApart: boolean,
  { cwd, env, onOutput }: CommandOptions,
): ChildProcess {
  const [out, err] = outputs.map((name) => {
    const isRead = isApart || (onOutput !== undefined && !process[name].isTTY);
    return isRead ? "pipe" : "inherit";
  });
  const stdio = [isApart ? "ignore" : "inherit", out, err] as StdioOptions;
  const detached = isApart && process.platform !== "win32";
  // On Windows, `npm`, `npx` and the like are batch files, which Node cannot start.
  return spawn(program, words, { cwd, env, stdio, detached });
}

function passOutput(
  child: ChildProcess,
  name: (typeof outputs)[number],
  isApart: boolean,
  onOutput: CommandOptions["onOutput"],
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  if (!isApart) stream?.pipe(process[name], { end: false });
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
export async function startDetached(
  words: readonly string[],
  { cwd, env, stdin = false, signal, onStderr }: DetachedOptions,
): Promise<Start> {
  const { execPath, execArgv, argv } = process;
  // A single executable has no script.
  const before = isExecutable() ? [] : [...execArgv, argv[1] as string];
  const stdio = [stdin ? "inherit" : "ignore", "pipe", fstatSync(2).isFile() ? "inherit" : "pipe"] as const;
  const options = { cwd, env, signal, detached: true, windowsHide: true, stdio: [...stdio] };
  const child = spawn(execPath, [...before, ...words], options);
  child.stderr?.setEncoding("utf8").on("data", onStderr);
  let printed = "";
  const start = await new Promise<Start>((resolve, reject) => {
    child.on("close", (code, by) => resolve({ code, by }));
    child.on("error", (error) => (signal.aborted ? undefined : reject(error)));
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
