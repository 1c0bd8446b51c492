import type { ChildProcess, StdioOptions } from "node:child_process";
import type { EventEmitter } from "node:events";
import { constants } from "node:os";
import { isatty } from "node:tty";
import spawn from "cross-spawn";
import type { Io } from "./io.js";

/** Steps at an event of this process or its outputs. They share a listener: Node warns of more than ten, and `certify` has some for each run. */
export class SharedListener {
  readonly #emitter: EventEmitter;
  readonly #event: string;
  readonly #steps = new Set<() => void>();

  constructor(emitter: EventEmitter, event: string) {
    this.#emitter = emitter;
    this.#event = event;
  }

  add(step: () => void): void {
    if (this.#steps.size === 0) this.#emitter.on(this.#event, this.#callSteps);
    this.#steps.add(step);
  }

  remove(step: () => void): void {
    this.#steps.delete(step);
    if (this.#steps.size === 0) this.#emitter.off(this.#event, this.#callSteps);
  }

  readonly #callSteps = (): void => {
    for (const step of this.#steps) step();
  };
}

/** What to do when this process ends. */
export const processEnd = new SharedListener(process, "exit");

// Runs a command of the user as a child process, at one of two places:
// - `at_terminal`, for `exec`: in the process group of this process, whose terminal it reads. Its output is also ours. The
//   terminal sends Ctrl-C to both.
// - `own_group`, for `certify`: in a process group of its own, without input. Its output is only read. When it has ended, what
//   it has started is killed.
// When this process ends, a command that still runs gets SIGTERM, and an own group is killed.

/** How a command has ended, or why it has not run. */
export type CommandEnd =
  | { readonly kind: "ended"; readonly code: number; readonly isTimedOut: boolean }
  | { readonly kind: "not_run"; readonly failure: NodeJS.ErrnoException }
  /** A signal came before the command started. */
  | { readonly kind: "stopped"; readonly signal: NodeJS.Signals };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: CommandPlace;
  readonly signals: TakenSignals;
  /** Gets the output, except to a terminal: commands may write differently if they have none. */
  readonly onOutput?: (stream: StreamName, chunk: Buffer) => void;
  /** Whether the time of the command is up, and it is to be killed. Default: never. */
  readonly isLate?: () => boolean;
}

const outputs = ["stdout", "stderr"] as const;
export type StreamName = (typeof outputs)[number];

/** What to do when nobody reads an output of this process any more. */
const outputErrors: Readonly<Record<StreamName, SharedListener>> = {
  stdout: new SharedListener(process.stdout, "error"),
  stderr: new SharedListener(process.stderr, "error"),
};

/** How long a command has to end itself after the signal that starts this time. */
const killAfterMs = 5000;
/** How long the rest of the output is read after the command's end. */
const outputGraceMs = 500;
const latenessIntervalMs = 100;

/**
 * Runs a command to its end. Its exit code after a signal is 128 plus the number of the signal. The third signal kills it,
 * or the time that an earlier one starts.
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
  return new RunningCommand(child, options).ended;
}

function spawnCommand(line: readonly [string, ...string[]], options: CommandOptions): ChildProcess {
  const [program, ...words] = line;
  const { cwd, env } = options;
  const hasOwnGroup = options.place === "own_group";
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

/** A command under way. */
class RunningCommand {
  /** Resolves when the command has ended, and its output is read. */
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;
  readonly #place: CommandPlace;
  #resolve: (end: CommandEnd) => void = () => {};
  /** Ends everything that lasts as long as the command: timers, and what passes signals and output. */
  readonly #cleanups: (() => void)[] = [];
  #isTimedOut = false;
  #signalCount = 0;

  constructor(child: ChildProcess, options: CommandOptions) {
    const { place, isLate, signals, onOutput } = options;
    this.#child = child;
    this.#place = place;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });

    // Three things end it from outside: its time, a signal, and the end of this process.
    if (isLate !== undefined) {
      this.#repeat(latenessIntervalMs, () => {
        if (isLate()) this.#killLate();
      });
    }
    this.#cleanups.push(signals.passTo((signal) => this.#onSignal(signal)));
    const endWithUs = () => this.#send(place === "own_group" ? "SIGKILL" : "SIGTERM");
    processEnd.add(endWithUs);
    this.#cleanups.push(() => processEnd.remove(endWithUs));

    for (const name of outputs) this.#cleanups.push(passOutput(child, name, place, onOutput));

    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows, cross-spawn reports a missing command this way after cmd.exe has run.
      const hasNotRun = child.pid === undefined || failure.code === "ENOENT";
      if (hasNotRun) this.#resolveEnd({ kind: "not_run", failure });
    });
    child.on("exit", (exitCode, signal) => {
      const code = exitCode ?? 128 + constants.signals[signal as NodeJS.Signals];
      this.#drainOutput({ kind: "ended", code, isTimedOut: this.#isTimedOut });
    });
  }

  #repeat(milliseconds: number, step: () => void): void {
    const timer = setInterval(step, milliseconds);
    this.#cleanups.push(() => clearInterval(timer));
  }

  /** Sends a signal to the command; at its own group, also to what it has started. */
  #send(signal: NodeJS.Signals): void {
    if (this.#place === "own_group") signalGroup(this.#child, signal);
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

  #onSignal(signal: NodeJS.Signals): void {
    const step = signalSteps[this.#place][this.#signalCount];
    this.#signalCount += 1;
    if (step === undefined) {
      this.#send("SIGKILL");
      return;
    }

    if (step.startsKillTimer) this.#killSoon();
    const hasGotIt = step.passedOn === "unless_from_terminal" && wasSentByTerminal(signal);
    if (!hasGotIt) this.#send(signal);
  }

  /** Ends once the output that is left after the command's exit is read. */
  #drainOutput(end: CommandEnd): void {
    const { stdout, stderr } = this.#child;
    if (stdout === null && stderr === null) {
      this.#resolveEnd(end);
      return;
    }

    // Processes that the command has left keep its output open: those of its group are killed.
    if (this.#place === "own_group") this.#send("SIGKILL");
    this.#child.once("close", () => this.#resolveEnd(end));
    // A process outside the group may keep it open forever, so the reading ends after a while, but not while our own output has a slow reader.
    this.#repeat(outputGraceMs, () => {
      const isPassedOn = this.#place === "at_terminal";
      const hasSlowReader = isPassedOn && outputs.some((name) => process[name].writableNeedDrain);
      if (!hasSlowReader) this.#resolveEnd(end);
    });
  }

  #resolveEnd(end: CommandEnd): void {
    for (const cleanUp of this.#cleanups) cleanUp();
    // A process outside the group may keep its outputs open.
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#resolve(end);
  }
}

/** Gives an output of a command to `onOutput`, and at the terminal to this process's output; returns how to stop that. */
function passOutput(
  child: ChildProcess,
  name: StreamName,
  place: CommandPlace,
  onOutput: CommandOptions["onOutput"],
): () => void {
  const stream = child[name];
  stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
  if (place === "at_terminal") stream?.pipe(process[name], { end: false });
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

/** Where a command runs: `run-command.ts` shows both places. */
type CommandPlace = "at_terminal" | "own_group";

/** What a signal to this process does to its command. */
interface SignalStep {
  /** Whether the command gets the signal, also if the terminal may have sent it to both. */
  readonly passedOn: "always" | "unless_from_terminal";
  /** Whether the command is killed if it has not ended some time later. */
  readonly startsKillTimer: boolean;
}

/** What the first and the second signal do. Each later one kills the command. */
const signalSteps: Readonly<Record<CommandPlace, readonly SignalStep[]>> = {
  at_terminal: [
    { passedOn: "unless_from_terminal", startsKillTimer: false },
    // A signal that was only for this process looks as if it were from the terminal. So the second one is always passed on.
    { passedOn: "always", startsKillTimer: true },
  ],
  own_group: [
    // Nobody waits for it at a terminal.
    { passedOn: "always", startsKillTimer: true },
    { passedOn: "always", startsKillTimer: false },
  ],
};

/** Whether a terminal has sent a signal, which all processes of its foreground group get. */
function wasSentByTerminal(signal: NodeJS.Signals): boolean {
  // On Windows, each signal is from the terminal, and sending one would end the process.
  if (process.platform === "win32") return true;
  return (signal === "SIGINT" || signal === "SIGQUIT") && (isatty(0) || isatty(2));
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
