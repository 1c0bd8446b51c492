import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import spawn from "cross-spawn";

/** The end of a command: its exit code, or the error with which it could not be started. */
export type CommandEnd = { readonly code: number } | { readonly failure: NodeJS.ErrnoException };

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hands the signals that reach this process to the listener. */
  readonly takeSignals: (listener: (signal: NodeJS.Signals) => void) => void;
}

/** The time that a command has after the second request to stop, in milliseconds. */
const patience = 5000;

/**
 * Runs a command line without a shell, with the streams of this process, and waits for its end.
 *
 * Passes signals on to it; the third one, or the second one and some patience, ends it. It does not outlive this process.
 * The code of a command that a signal has ended is 128 plus its number. Never throws.
 */
export function runCommand(
  [program, ...words]: readonly [string, ...string[]],
  { takeSignals, cwd, env }: CommandOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      // On Windows `npm`, `npx` and the like are batch files, which Node does not start itself.
      child = spawn(program, words, { cwd, env, stdio: "inherit" });
    } catch (error) {
      return resolve({ failure: error as NodeJS.ErrnoException });
    }
    let isOver = false;
    let asked = 0;
    let deadline: NodeJS.Timeout | undefined;
    const kill = () => void child.kill("SIGKILL");
    takeSignals((signal) => {
      if (isOver) return;
      asked += 1;
      if (asked === 2) deadline = setTimeout(kill, patience);
      // The command has it already. One that another process sent to this one alone looks the same: it has to be sent twice.
      if (asked === 1 && isFromKeyboard(signal)) return;
      if (asked < 3) child.kill(signal);
      else kill();
    });
    // The command ends with this process.
    const endWithUs = () => void child.kill();
    process.once("exit", endWithUs);
    const end = (how: CommandEnd) => {
      isOver = true;
      clearTimeout(deadline);
      process.off("exit", endWithUs);
      resolve(how);
    };
    child.on("error", (failure: NodeJS.ErrnoException) => {
      // On Windows cmd.exe has run, and cross-spawn says in place of its exit that it found no such command.
      if (child.pid === undefined || failure.code === "ENOENT") end({ failure });
    });
    child.on("exit", (code, signal) =>
      end({ code: code ?? 128 + constants.signals[signal as NodeJS.Signals] }),
    );
  });
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
