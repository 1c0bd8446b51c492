import { resolve } from "node:path";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type Start, startSandbox } from "../sandbox/start-sandbox.js";
import type { StateFile, StateOptions } from "./state-file.js";

/** Where a server keeps its sandbox. */
interface StateFileOptions extends StateOptions {
  /** The name of the state file. Default: the sandbox is not kept. */
  readonly name: string | undefined;
  /** The folder of a relative name. Default: that of the process. */
  readonly cwd?: string;
}

/** Starts the sandbox of a server, or continues the one of its state file, which its server closes. Throws as `openStateFile`. */
export async function openSandbox(
  start: Start,
  { name, cwd = "", ...options }: StateFileOptions,
): Promise<{ readonly sandbox: SandboxState; readonly stateFile: StateFile | undefined }> {
  if (name === undefined) return { sandbox: startSandbox(start), stateFile: undefined };

  // Most servers keep nothing, and do not load the code for it.
  const { openStateFile } = await import("./state-file.js");
  const stateFile = await openStateFile({ file: resolve(cwd, name), name }, start, options);
  return { sandbox: stateFile.sandbox, stateFile };
}
