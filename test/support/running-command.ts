import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { root } from "./pages.js";
import { temporaryFolder } from "./temporary-folder.js";

const { TESTED_BINARY } = process.env;

/** The file of the built command line, or the single executable that `TESTED_BINARY` names. */
export const bin = TESTED_BINARY || join(root, "bin/svc-sandbox.js");
/** The words that start it. */
export const words: readonly string[] = TESTED_BINARY ? [bin] : [process.execPath, bin];

/** The start of a shell line that runs it. */
export const commandLine = words.map((word) => `"${word}"`).join(" ");

/** How a command ended, and what it wrote */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** Resolves with the standard output so far, once it matches; rejects when the command ends before. */
  readonly until: (pattern: RegExp) => Promise<string>;
  readonly ended: Promise<Ended>;
  /** Asks it and its children to stop, as Ctrl-C does, and waits until it has ended. */
  readonly stop: () => Promise<Ended>;
}

interface Surroundings {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** The whole environment. */
  readonly only?: Record<string, string>;
  /** Default: bash. */
  readonly shell?: string;
}

/** Runs a shell command in a folder, in a process group of its own, which is gone when the test is over. */
export function runCommand(
  command: string,
  { cwd, env, only, shell = "bash" }: Surroundings,
): RunningCommand {
  // The shell outlives the interrupt that ends its command, to say with which code that ended.
  const child = spawn(shell, ["-c", `trap : INT\n${command}`], {
    cwd,
    env: only ?? { ...process.env, NO_COLOR: "1", ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void signalGroup(child, "SIGKILL"));
  return watched(child, command);
}

interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether its input stays open until the test ends it. */
  readonly hasInput?: boolean;
  /** Descriptors to write to. Default: what is written can be read here. */
  readonly stdout?: number;
  readonly stderr?: number;
}

/** Starts the built `svc-sandbox` as its users do, by default in an empty folder; it is gone when the test is over. */
export function startBin(argv: readonly string[], options: StartOptions = {}): RunningCommand {
  const { cwd = temporaryFolder(), env = {}, hasInput, stdout = "pipe", stderr = "pipe" } = options;
  const { PATH, HOME } = process.env;
  const [first = "", ...others] = [...words, ...argv];
  const child = spawn(first, others, { cwd, env: { PATH, HOME, ...env }, stdio: ["pipe", stdout, stderr] });
  onTestFinished(() => void child.kill("SIGKILL"));
  // A command that does not read closes its end.
  child.stdin?.on("error", () => {});
  if (!hasInput) child.stdin?.end();
  return watched(child, argv.join(" "));
}

/** Whether a command can be given a terminal of its own here. */
export const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

/** Runs a shell line on a terminal of its own, whose text is all in `stdout`. */
export function onTerminal(line: string, cwd: string, env: Record<string, string> = {}) {
  const { PATH, HOME } = process.env;
  // Ctrl-C reaches the shell as well, and only some of them go on after it (bash does, dash does not) without a trap.
  const child = spawn("script", ["-qec", `trap : INT; ${line}`, "/dev/null"], {
    cwd,
    env: { PATH, HOME, TERM: "xterm", SHELL: "/bin/sh", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const running = watched(child, line);
  /** Types keys once the terminal shows this. */
  const press = async (after: RegExp, keys: string) => {
    await running.until(after);
    child.stdin.write(keys);
  };
  return { ...running, press };
}

function watched(child: ChildProcess, title: string): RunningCommand {
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text) => {
      written[name] += text;
    });
  }
  const ended = once(child, "close").then(([code, signal]): Ended => ({ code, signal, ...written }));
  return {
    child,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => void (pattern.test(written.stdout) && resolve(written.stdout));
        child.stdout?.on("data", look);
        look();
        ended.then((end) =>
          reject(new Error(`${title} ended before it printed ${pattern}: ${JSON.stringify(end)}`)),
        );
      }),
    stop() {
      signalGroup(child, "SIGINT");
      return ended;
    },
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid as number), signal);
  } catch {
    // Nothing of it is left.
  }
}
