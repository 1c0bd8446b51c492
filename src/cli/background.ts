import { fstatSync } from "node:fs";
import spawn from "cross-spawn";
import { isExecutable } from "./io.js";

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
