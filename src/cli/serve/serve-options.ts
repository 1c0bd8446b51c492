import { isMachineLimit } from "../../node/files/write-file.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { ServeOptions } from "../../server/server-options.js";
import { describeFailure, usageError } from "../exit-codes.js";
import type * as flag from "../flags/flag.js";
import type * as shared from "../flags/shared-flags.js";
import type { Io } from "../io.js";
import type { LogFlags } from "./log.js";

/** The flags of a command that serves a sandbox. */
export interface ServeFlags extends flag.FlagValues<typeof shared.serverFlags>, LogFlags {
  readonly port?: number;
}

/** The options of a server that the flags set. */
export async function serveOptions(flags: ServeFlags, io: Io, log: Logger): Promise<ServeOptions> {
  const { port = 4747, host, publicUrl, allowHosts, explain, noControl, controlToken } = flags;
  const tls = await readTls(flags, io);
  return {
    port,
    ...(host !== undefined && { host }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(allowHosts !== undefined && { allowHosts }),
    ...(explain !== undefined && { explain }),
    ...(noControl && { control: false }),
    ...(controlToken !== undefined && { controlToken }),
    ...(tls !== undefined && { tls }),
    stop: io.stopProcess,
    program: io.program,
    onDefect(error) {
      const failure = describeFailure(error, { ...flags, json: false }).trimEnd();
      // A failed save is reported here too, although no request waits for it.
      const isFailedSave = error instanceof SandboxError && error.code.startsWith("state_");
      if (isMachineLimit(error) || isFailedSave) log.problem(failure);
      else log.problem(`A request got 500. ${failure}`);
    },
  };
}

/** The option that `--tls`, `--cert` and `--key` set: whether to serve HTTPS, and with which certificate. Throws a usage error if it has no private key, or the other way round. */
async function readTls(flags: ServeFlags, { cwd }: Io): Promise<ServeOptions["tls"]> {
  const { cert, key } = flags;
  if (cert === undefined && key === undefined) return flags.tls;
  if (cert === undefined || key === undefined) {
    const requires = key === undefined ? "--cert requires --key" : "--key requires --cert";
    throw usageError(`${requires}. Use both, or only --tls for a self-signed certificate.`);
  }
  const { readPair } = await import("../../server/sockets/tls.js");
  return readPair({ cert, key }, cwd);
}
