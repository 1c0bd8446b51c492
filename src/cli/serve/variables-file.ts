import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { quoteFile } from "../../schema/words.js";
import type { RunningServer } from "../../server/serve.js";

/** Writes the variables of a server's clients into a file, and again after each start of its sandbox. */
export type VariablesWriter = (server: RunningServer) => void;

/**
 * Loads what keeps the variables of clients in the file of `--write-env`. A failure of its first write is thrown, and a later one
 * is only reported: the server continues.
 */
export async function loadVariablesWriter(
  name: string,
  cwd: string,
  sandbox: SandboxState,
  logger: Logger,
): Promise<VariablesWriter> {
  const { clientEnvironment } = await import("../files/client-variables.js");
  const { writeEnvFile } = await import("../files/env-file.js");
  const write = (server: RunningServer) => {
    const variables: Record<string, string> = { ...clientEnvironment(sandbox, server) };
    if (server.controlToken !== undefined) variables.SVC_SANDBOX_CONTROL_TOKEN = server.controlToken;
    const isNarrowed = writeEnvFile(name, cwd, variables);
    if (!isNarrowed) return;
    logger.note(`Only you can read ${quoteFile(name)} now (0600): it contains the control token.`);
  };

  return (server) => {
    write(server);
    sandbox.journal.subscribe(({ type }) => {
      // After a reset or a reload, the keys are others.
      if (type === "sandbox.started") tryOrReport(() => write(server), logger);
    });
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
