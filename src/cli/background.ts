import { fstatSync } from "node:fs";
import spawn from "cross-spawn";
import type { CommandCall } from "./command.js";
import { exitCode, usageError } from "./exit-codes.js";
import { isSingleExecutable } from "./io.js";
import { stdinName } from "./scenario.js";

/**
 * Starts this program again with the same command line, detached from this process and its terminal. Prints the line of the new
 * process once that accepts requests, and resolves to the exit code. If stderr is a file, the new process also writes to it.
 */
export async function startInBackground({ argv, args, io }: CommandCall): Promise<number> {
  const stopSignal = io.stopSignal();
  // A single executable has no script.
  const script = isSingleExecutable() ? [] : [...process.execArgv, process.argv[1] as string];
  const stdin = args[0] === stdinName ? "inherit" : "ignore";
  const stderr = fstatSync(2).isFile() ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...script, ...argv], {
    cwd: io.cwd,
    // With it, the same command line serves.
    env: { ...io.env, SVC_IN_BACKGROUND: "1" },
    signal: stopSignal,
    detached: true,
    windowsHide: true,
    stdio: [stdin, "pipe", stderr],
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => io.stderr.write(text));

  // Its line comes first, or its end.
  let line = "";
  const end = await new Promise<"none" | [code: number | null, signal: NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.on("close", (code, signal) => resolve([code, signal]));
      child.on("error", (error) => {
        if (!stopSignal.aborted) reject(error);
      });
      child.stdout?.setEncoding("utf8").on("data", (text) => {
        line += text;
        if (line.endsWith("\n")) resolve("none");
      });
    },
  );

  // What it has written to stderr before that line arrives first.
  await new Promise(setImmediate);
  child.stdout?.destroy();
  child.stderr?.destroy();
  // The new process does not keep this one alive.
  child.unref();
  if (end === "none") {
    io.stdout.write(line);
    return exitCode.fine;
  }

  // A process that the user has stopped is no failure.
  const [code, signal] = end;
  if (signal === null || stopSignal.aborted) return code ?? exitCode.fine;
  throw usageError(`Failed to start in the background: ${signal} ended it before it accepted requests.`);
}
