import { spawn } from "node:child_process";
import { fstatSync } from "node:fs";
import { isSea } from "node:sea";

interface DetachedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether it reads the standard input of this process. Default: false. */
  readonly stdin?: boolean;
  /** Stops it during its start. */
  readonly signal: AbortSignal;
  /** Called with its output on stderr during its start. */
  readonly onStderr: (text: string) => void;
}

/** The first line of a program's output, or how the program ended before that. */
interface Start {
  readonly line?: string;
  readonly code?: number | null;
  readonly by?: NodeJS.Signals | null;
}

/** Returns the program and the first arguments that start this program again. A single executable has no script. */
function ownProgram(): [string, ...string[]] {
  const { execPath, execArgv, argv } = process;
  return isSea() ? [execPath] : [execPath, ...execArgv, argv[1] as string];
}

/**
 * Starts this program again with these arguments, detached from this process and its terminal. Resolves with its first line
 * or its end. If stderr is a file, the new process also writes to it.
 */
export async function startDetached(
  words: readonly string[],
  { cwd, env, stdin = false, signal, onStderr }: DetachedOptions,
): Promise<Start> {
  const [program, ...argv] = ownProgram();
  const stdio = [stdin ? "inherit" : "ignore", "pipe", fstatSync(2).isFile() ? "inherit" : "pipe"] as const;
  const options = { cwd, env, signal, detached: true, windowsHide: true, stdio: [...stdio] };
  const child = spawn(program, [...argv, ...words], options);
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
