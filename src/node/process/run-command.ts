import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import spawn from "cross-spawn";

/** The end of a command: its exit code, or the error with which it could not be started. */
export type CommandEnd =
  | { readonly code: number; readonly isTimedOut?: boolean }
  | { readonly failure: NodeJS.ErrnoException };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hands the signals that reach this process to the listener. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => void;
  /** Gets what it writes, except to a terminal: a command that finds none there may write in another way. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** Default: it has the streams of this process, and all the time that it takes. */
  readonly apart?: Apart;
}

/** A command without input and in a group of its own, of which nothing is left when it has ended. */
export interface Apart {
  /** Whether the group is to be killed for time; called every tenth of a second. */
  readonly isLate: () => boolean;
}

const outputs = ["stdout", "stderr"] as const;
/** The time that a command has after the second request to stop, in milliseconds. */
const patience = 5000;
/** The time that is left for reading what a command wrote, after its end, in milliseconds. */
const lastWords = 500;

/**
 * Runs a command line without a shell and waits for its end.
 *
 * Passes signals on to it; the third one, or the second one and some patience, ends it. It does not outlive this process.
 * The code of a command that a signal has ended is 128 plus its number. Never throws.
 */
export function runCommand(
  [program, ...words]: readonly [string, ...string[]],
  { takeSignals, cwd, env, apart, onOutput }: CommandOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      // On Windows `npm`, `npx` and the like are batch files, which Node does not start itself.
      const [out, err] = outputs.map((name) => {
        const isRead = apart !== undefined || (onOutput !== undefined && !process[name].isTTY);
        return isRead ? "pipe" : "inherit";
      });
      const stdio = [apart === undefined ? "inherit" : "ignore", out, err];
      const detached = apart !== undefined && process.platform !== "win32";
      child = spawn(program, words, { cwd, env, stdio: stdio as StdioOptions, detached });
    } catch (error) {
      return resolve({ failure: error as NodeJS.ErrnoException });
    }
    let isOver = false;
    let asked = 0;
    let deadline: NodeJS.Timeout | undefined;
    let unread: NodeJS.Timeout | undefined;
    let isTimedOut = false;
    const send = (signal: NodeJS.Signals) =>
      apart === undefined ? child.kill(signal) : signalGroup(child, signal);
    const kill = () => void send("SIGKILL");
    takeSignals((signal) => {
      if (isOver) return;
      asked += 1;
      // Several commands that nobody sees have not all the time that one has.
      if (asked === (apart === undefined ? 2 : 1)) deadline = setTimeout(kill, patience);
      // The command has it already. One that another process sent to this one alone looks the same: it has to be sent twice.
      if (asked === 1 && apart === undefined && isFromKeyboard(signal)) return;
      if (asked < 3) send(signal);
      else kill();
    });
    const timer =
      apart &&
      setInterval(() => {
        if (!apart.isLate()) return;
        isTimedOut = true;
        kill();
      }, 100);
    const passing = outputs.map((name) => {
      const stream = child[name];
      stream?.on("data", (chunk: Buffer) => onOutput?.(name, chunk));
      if (apart === undefined) stream?.pipe(process[name], { end: false });
      // The reader has gone: the command is to find the same.
      const close = () => void stream?.destroy();
      process[name].once("error", close);
      return () => process[name].off("error", close);
    });
    // The command ends with this process.
    const endWithUs = () => void send(apart === undefined ? "SIGTERM" : "SIGKILL");
    process.once("exit", endWithUs);
    const end = (how: CommandEnd) => {
      isOver = true;
      clearTimeout(deadline);
      clearInterval(timer);
      clearInterval(unread);
      for (const release of passing) release();
      // A process that has left the group may hold them.
      child.stdout?.destroy();
      child.stderr?.destroy();
      process.off("exit", endWithUs);
      resolve(how);
    };
    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows cmd.exe has run, and cross-spawn says in place of its exit that it found no such command.
      if (child.pid === undefined || failure.code === "ENOENT") end({ failure });
    });
    child.on("exit", (code, signal) => {
      const ended = { code: code ?? 128 + constants.signals[signal as NodeJS.Signals], isTimedOut };
      if (child.stdout === null && child.stderr === null) return end(ended);
      if (apart !== undefined) kill();
      const isPassing = () => apart === undefined && outputs.some((name) => process[name].writableNeedDrain);
      unread = setInterval(() => isPassing() || end(ended), lastWords);
      child.once("close", () => end(ended));
    });
  });
}

// Windows has no groups; what the command has started ends with its tree.
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    if (process.platform !== "win32") process.kill(-pid, signal);
    else spawn.sync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
  } catch {
    // Nothing of it is left.
  }
}

// A signal from the keyboard goes to the group of processes in the terminal's foreground. Only Linux tells which one that is;
// elsewhere it is taken to be this one. On Windows there is no other signal, and sending one ends a process at once.
function isFromKeyboard(signal: NodeJS.Signals): boolean {
  if (process.platform === "win32") return true;
  if (signal !== "SIGINT" && signal !== "SIGQUIT") return false;
  try {
    closeSync(openSync("/dev/tty", "r"));
  } catch {
    return false;
  }
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The second field is the program's name, in parentheses, which may hold anything.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return true;
  }
}
