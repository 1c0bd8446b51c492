import { defaultPrefix, isPrefix, readRedisAddress } from "../../node/addresses.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import type { ServeFlags } from "./serve-options.js";

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
