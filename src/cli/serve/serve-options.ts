import { defaultPrefix, isPrefix, readRedisAddress } from "../../node/addresses.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { isOfMachine } from "../../node/files/write-file.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { Hosting, ServeOptions } from "../../server/sockets/server-state.js";
import { describeFailure, usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import type { LogFlags } from "./log.js";

export interface ServeFlags extends flag.FlagValues<typeof flag.ofServer>, LogFlags {
  readonly port?: number;
}

export async function serveOptions(flags: ServeFlags, io: Io, log: Logger): Promise<ServeOptions & Hosting> {
  // The other flags have the options' names.
  const { port = 4747, tls: _, cert: __, key: ___, verbose, ...others } = flags;
  const tls = await tlsOf(flags, io);
  return {
    ...others,
    port,
    ...(tls !== undefined && { tls }),
    onStop: io.stop,
    program: io.program,
    onDefect(error) {
      const failure = describeFailure(error, { ...flags, json: false }).trimEnd();
      // Also called if no request waits for it.
      const isOurs = !isOfMachine(error) && !(error instanceof SandboxError && /^state_/.test(error.code));
      log.problem(isOurs ? `A request got 500. ${failure}` : failure);
    },
  };
}

async function tlsOf({ tls, cert, key }: ServeFlags, { cwd }: Io): Promise<ServeOptions["tls"]> {
  if (cert === undefined && key === undefined) return tls;
  if (cert === undefined || key === undefined) {
    const [given, missing] = key === undefined ? ["--cert", "--key"] : ["--key", "--cert"];
    throw usageError(`${given} requires ${missing}. Use both, or only --tls for a self-signed certificate.`);
  }
  const { readPair } = await import("../../server/sockets/tls.js");
  return readPair({ cert, key }, cwd);
}

// The message leaves out the URL, which may contain a password.
function readStore(text: string, from: string) {
  const address = readRedisAddress(text);
  if (address !== undefined) return address;
  throw usageError(
    `Invalid ${from}: use the URL of a Redis, such as redis://localhost:6379 or rediss://user:password@redis.example (in a password, write % as %25, / as %2F, # as %23, @ as %40).`,
  );
}

export const keepingFlags = {
  state: flag.option(
    "--state <file>",
    "keep the sandbox in this file, with its requests and instances, so that it survives a restart; the file overrides --seed, --now, --frozen and --profile",
    flag.fileName,
  ),
  import: flag.plainOption(
    "--import <file>",
    "start --state or --store with this file from export; rejected if a sandbox already exists there",
    flag.fileName,
  ),
  store: flag.option(
    "--store <url>",
    "share the sandbox with all replicas that use the same Redis: redis://host:6379, or rediss://user:password@host (keep a password in the variable)",
    readStore,
  ),
  storePrefix: flag.option(
    "--store-prefix <text>",
    `prefix of the key names in the store, one per sandbox (default: ${defaultPrefix})`,
    flag.reader((text) => (isPrefix(text) ? text : undefined), "1 to 64 letters, digits and . _ : / -"),
  ),
};

/** The flags that set where a server's sandboxes are stored. */
export interface KeepingFlags extends flag.FlagValues<typeof keepingFlags>, ServeFlags, flag.SandboxFlags {
  readonly watch?: boolean;
}

export interface StoreContext {
  readonly own: () => LoadedScenario;
  readonly logger: Logger;
  readonly onProblem: (error: unknown) => void;
  readonly stop: AbortSignal;
}

export async function readImport({ import: file }: KeepingFlags, io: Io) {
  return file === undefined ? undefined : { text: await readGivenFile(file, "the state", io), given: file };
}
