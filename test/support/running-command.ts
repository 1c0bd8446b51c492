import { type ChildProcess, spawn } from "node:child_process";

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is running. */
export interface RunningCommand {
  /** Resolves with the standard output so far, once it matches; rejects when the command ends before. */
  readonly until: (pattern: RegExp) => Promise<string>;
  readonly ended: Promise<Ended>;
  /** Asks it and its children to stop, as Ctrl-C does, and waits until it has ended. */
  readonly stop: () => Promise<Ended>;
}

/** Runs a shell command in a folder, in a process group of its own. */
export function runCommand(
  command: string,
  options: { cwd: string; env?: Record<string, string> },
): RunningCommand {
  // The shell outlives the interrupt that ends its command, to say with which code that ended.
  const child = spawn("bash", ["-c", `trap : INT\n${command}`], {
    cwd: options.cwd,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const waiting = new Set<() => void>();
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    for (const check of waiting) check();
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => resolve({ code, stdout, stderr })),
  );

  return {
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(stdout)) return;
          waiting.delete(check);
          resolve(stdout);
        };
        waiting.add(check);
        check();
        ended.then(() =>
          reject(new Error(`${command} ended before it printed ${pattern}:\n${stdout}\n${stderr}`)),
        );
      }),
    stop() {
      signalGroup(child, "SIGINT");
      return ended;
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal);
  } catch {
    // It has ended already.
  }
}
