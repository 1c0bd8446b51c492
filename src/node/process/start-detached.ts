import { spawn } from "node:child_process";
import { fstatSync } from "node:fs";
import { isSea } from "node:sea";

interface DetachedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether it reads the input of this process. Default: it has none. */
  readonly stdin?: boolean;
  /** Ends it while it starts. */
  readonly signal: AbortSignal;
  /** Called with what it writes on stderr while it starts. */
  readonly onStderr: (text: string) => void;
}

/** The first line that a program printed, or how it ended before. */
interface Start {
  readonly line?: string;
  readonly code?: number | null;
  readonly by?: NodeJS.Signals | null;
}

/** The program, and the first of its arguments, that start this program again. A single executable has no script. */
function ownProgram(): [string, ...string[]] {
  const { execPath, execArgv, argv } = process;
  return isSea() ? [execPath] : [execPath, ...execArgv, argv[1] as string];
}

/**
 * Starts this program again with these arguments, apart from this process and its terminal, and does not wait for its
 * end. If stderr is a file, it keeps that.
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
  // What it wrote on stderr before the line is there to be read now.
  await new Promise(setImmediate);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
  return start;
}
