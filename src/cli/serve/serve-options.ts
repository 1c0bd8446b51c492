import { isOfMachine } from "../../node/files/write-file.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { Hosting, ServeOptions } from "../../server/sockets/server-state.js";
import { describeFailure, usageError } from "../exit-codes.js";
import type * as flag from "../flags.js";
import type { Io } from "../io.js";
import type { LogFlags } from "./log.js";

export interface ServeFlags extends flag.FlagValues<typeof flag.ofServer>, LogFlags {
  readonly port?: number;
}

export async function serveOptions(flags: ServeFlags, io: Io, log: Logger): Promise<ServeOptions & Hosting> {
  // The other flags have the options' names.
  const { port = 4747, tls: _, cert: __, key: ___, verbose, ...serverFlags } = flags;
  const tls = await tlsOf(flags, io);
  return {
    ...serverFlags,
    port,
    ...(tls !== undefined && { tls }),
    onStop: io.stop,
    program: io.program,
    onDefect(error) {
      const failure = describeFailure(error, { ...flags, json: false }).trimEnd();
      // A failed save is reported here too, although no request waits for it.
      const isOurs = !isOfMachine(error) && !(error instanceof SandboxError && /^state_/.test(error.code));
      log.problem(isOurs ? `A request got 500. ${failure}` : failure);
    },
  };
}

async function tlsOf({ tls, cert, key }: ServeFlags, { cwd }: Io): Promise<ServeOptions["tls"]> {
  if (cert === undefined && key === undefined) return tls;
  if (cert === undefined || key === undefined) {
    const [flag, missing] = key === undefined ? ["--cert", "--key"] : ["--key", "--cert"];
    throw usageError(`${flag} requires ${missing}. Use both, or only --tls for a self-signed certificate.`);
  }
  const { readPair } = await import("../../server/sockets/tls.js");
  return readPair({ cert, key }, cwd);
}
