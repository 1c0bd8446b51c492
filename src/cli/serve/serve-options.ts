import { SandboxError } from "../../domain/errors.js";
import type { ServeOptions } from "../../node/server/serve-runtime.js";
import type { CertificatePair } from "../../node/server/tls.js";
import type { FlagValues } from "../command.js";
import { describeFailure, usageError } from "../exit-codes.js";
import type { serverFlags } from "../flags.js";
import type { Io } from "../io.js";
import type { Log } from "./log.js";

/** The flags that say how a scenario is served. */
export interface ServeFlags extends FlagValues<typeof serverFlags> {
  readonly port?: number;
  readonly verbose?: boolean;
}

const defaultPort = 4747;

/** The options that the flags set for a server; loads the files that they name. */
export async function serveOptions(flags: ServeFlags, io: Io, log: Log): Promise<ServeOptions> {
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

// Loaded only when asked for, the loader included.
async function ownHandlers({ handlers }: ServeFlags, { cwd }: Io): Promise<Partial<ServeOptions>> {
  if (handlers === undefined) return {};
  const { loadHandlers } = await import("../../node/server/load-handlers.js");
  const loaded = await loadHandlers(handlers, cwd);
  return { handlers: loaded.handlers, handlersFile: loaded.file };
}

async function tlsOf(
  { tls, cert, key }: ServeFlags,
  { cwd }: Io,
): Promise<boolean | CertificatePair | undefined> {
  if (cert === undefined && key === undefined) return tls;
  if (cert === undefined || key === undefined) {
    const [given, missing] = key === undefined ? ["--cert", "--key"] : ["--key", "--cert"];
    throw usageError(
      `Failed to serve HTTPS: ${given} was given without ${missing}. Give both, or --tls alone for a self-signed certificate.`,
    );
  }
  const { readPair } = await import("../../node/server/tls.js");
  return readPair({ cert, key }, cwd);
}

function describeDefect(error: unknown, { verbose = false }: ServeFlags): string {
  const what = describeFailure(error, { verbose });
  // Also reported when no request waits for it.
  const isOurs = !(error instanceof SandboxError && error.code === "state_unwritable");
  return isOurs ? `A request was answered with 500. ${what}` : what;
}

// With its stack: the user has to mend their own code, and wants to know where.
function describeHandlerError(error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A handler failed, and its request was answered with 500: ${what}`;
}
