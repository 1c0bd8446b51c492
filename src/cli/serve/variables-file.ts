import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { quoteFile } from "../../schema/words.js";
import type { RunningServer } from "../../server/serve.js";

/** What keeps the variables of clients in a file. */
interface VariablesKeeper {
  /** Writes them, and again after each start of the sandbox. A later failure is only reported: the server continues. */
  readonly write: (server: RunningServer) => void;
}

/** Keeps the variables of a server's clients in the file of `--write-env`, if one is named. */
export async function keepVariables(
  name: string | undefined,
  cwd: string,
  sandbox: SandboxState,
  logger: Logger,
): Promise<VariablesKeeper> {
  if (name === undefined) return { write() {} };

  const { clientEnvironment } = await import("../files/client-variables.js");
  const { EnvFile } = await import("../files/env-file.js");
  const envFile = new EnvFile(name, cwd);
  const writeOnce = (server: RunningServer) => {
    const variables: Record<string, string> = { ...clientEnvironment(sandbox, server) };
    if (server.controlToken !== undefined) variables.SVC_SANDBOX_CONTROL_TOKEN = server.controlToken;
    const isNarrowed = envFile.write(variables);
    if (!isNarrowed) return;
    logger.note(`Only you can read ${quoteFile(name)} now (0600): it contains the control token.`);
  };

  return {
    write(server) {
      writeOnce(server);
      sandbox.journal.subscribe(({ type }) => {
        // After a reset or a reload, the keys are others.
        if (type === "sandbox.started") tryOrReport(() => writeOnce(server), logger);
      });
    },
  };
}

function tryOrReport(write: () => void, logger: Logger): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    logger.problem(error.message);
  }
}
