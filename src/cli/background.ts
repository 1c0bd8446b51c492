import { fstatSync } from "node:fs";
import spawn from "cross-spawn";
import type { CommandCall } from "./command.js";
import { exitCode, usageError } from "./exit-codes.js";
import { isSingleExecutable } from "./io.js";
import { stdinName } from "./scenario.js";

/**
 * Starts this program again with the same command line, detached from this process and its terminal. The new process prints one line
 * once it accepts requests: this process repeats it, and resolves to the exit code. If stderr is a file, the new process writes to it.
 */
export async function startInBackground({ argv, args, io }: CommandCall): Promise<number> {
  const stopSignal = io.stopSignal();
  // A single executable has no script.
  const script = isSingleExecutable() ? [] : [...process.execArgv, process.argv[1] as string];
  const stdin = args[0] === stdinName ? "inherit" : "ignore";
  const stderr = fstatSync(2).isFile() ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...script, ...argv], {
    cwd: io.cwd,
    // Makes the new process serve, although its command line has --detach.
    env: { ...io.env, SVC_IN_BACKGROUND: "1" },
    signal: stopSignal,
    detached: true,
    windowsHide: true,
    stdio: [stdin, "pipe", stderr],
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => io.stderr.write(text));

  // Resolves with the line of the new process, or with its end if that comes first.
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

  // Text that it wrote to stderr before that line is still on its way.
  await new Promise(setImmediate);
  child.stdout?.destroy();
  child.stderr?.destroy();
  // Without this, the new process would keep this one alive.
  child.unref();
  if (end === "none") {
    // The new process has hidden what it must.
    io.stdout.printSecret(line);
    return exitCode.fine;
  }

  // If the user stopped the process, its end is not a failure.
  const [code, signal] = end;
  if (signal === null || stopSignal.aborted) return code ?? exitCode.fine;
  throw usageError(`Failed to start in the background: ${signal} ended it before it accepted requests.`);
}
