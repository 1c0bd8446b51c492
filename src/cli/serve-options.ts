import { SandboxError } from "../domain/errors.js";
import type { ServeOptions } from "../node/server/serve-runtime.js";
import type { CertificatePair } from "../node/server/tls.js";
import { describeFailure } from "./failure.js";
import type { Flags } from "./flags.js";
import type { Io } from "./io.js";
import type { Log } from "./log.js";
import { usageError } from "./usage-error.js";

const defaultPort = 4747;

/** How the flags want a world served; loads the files that they name. */
export async function serveOptions(flags: Flags, io: Io, log: Log): Promise<ServeOptions> {
  const { port, host, explain, control, controlToken, instanceTtl } = flags;
  const tls = await tlsOf(flags, io);
  return {
    port: port ?? defaultPort,
    ...(host !== undefined && { host }),
    ...(tls !== undefined && { tls }),
    ...(explain !== undefined && { explain }),
    ...(control !== undefined && { control }),
    ...(controlToken !== undefined && { controlToken }),
    ...(instanceTtl !== undefined && { instanceTtl }),
    ...(await ownHandlers(flags, io)),
    onDefect: (error) => log.problem(describeDefect(error, flags)),
    onHandlerError: (error) => log.problem(describeHandlerError(error)),
  };
}

// A module that nobody asked for is not loaded, and neither is what loads it.
async function ownHandlers({ handlers }: Flags, { cwd }: Io): Promise<Partial<ServeOptions>> {
  if (handlers === undefined) return {};
  const { loadHandlers } = await import("../node/server/load-handlers.js");
  const loaded = await loadHandlers(handlers, cwd);
  return { handlers: loaded.handlers, handlersFile: loaded.file };
}

async function tlsOf({ tls, cert, key }: Flags, { cwd }: Io): Promise<boolean | CertificatePair | undefined> {
  if (cert === undefined && key === undefined) return tls;
  if (cert === undefined || key === undefined) {
    const [given, missing] = key === undefined ? ["--cert", "--key"] : ["--key", "--cert"];
    throw usageError(
      `Failed to serve HTTPS: ${given} was given without ${missing}. Give both, or --tls alone for a self-signed certificate.`,
    );
  }
  const { readPair } = await import("../node/server/tls.js");
  return readPair({ cert, key }, cwd);
}

function describeDefect(error: unknown, { verbose = false }: Flags): string {
  const what = describeFailure(error, { verbose });
  // Also told when no request waits for it.
  const isOurs = !(error instanceof SandboxError && error.code === "state_unwritable");
  return isOurs ? `A request was answered with 500. ${what}` : what;
}

// With its stack: it is the user's own code that has to be mended, and where is what they want to know.
function describeHandlerError(error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A handler failed, and its request was answered with 500: ${what}`;
}
