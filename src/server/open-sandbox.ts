import { resolve } from "node:path";
import { startNamed } from "../node/platform.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { StateFile, StateOptions } from "./state-file.js";

/** Starts the sandbox of a server, or continues the one of the state file `name`, which the caller closes. Throws as `openStateFile`. */
export async function openSandbox(
  name: string | undefined,
  options: Omit<StateOptions, "start">,
  cwd = "",
): Promise<{ readonly sandbox: SandboxState; readonly stateFile: StateFile | undefined }> {
  const start = () => startNamed(options.startedScenario(), options.startOptions, options.run);
  if (name === undefined) return { sandbox: start(), stateFile: undefined };

  // Most servers keep nothing, and do not load the code for it.
  const { openStateFile } = await import("./state-file.js");
  const stateFile = await openStateFile({ file: resolve(cwd, name), name }, { ...options, start });
  return { sandbox: stateFile.sandbox, stateFile };
}
