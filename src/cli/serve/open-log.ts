import { resolve } from "node:path";
import type { Log } from "../../log/log.js";
import { createMemoryLog } from "../../log/memory-log.js";
import { defaultPrefix, isPrefix, type RedisAddress, readRedisAddress } from "../../node/addresses.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../spec/errors.js";
import { listed, quote } from "../../spec/schema/words.js";
import { type CommandCall, type FlagValues, fileName, option, reader } from "../command.js";
import { usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import { readDuration, type WorldFlags } from "../flags.js";
import type { Io } from "../io.js";
import { givenFlags, openNamed, startNamed } from "../open-scenario.js";
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
  state: option(
    "--state <file>",
    "keep the sandbox in this file, with its requests and instances, so that it survives a restart; the file overrides --seed, --now, --frozen and --profile",
    fileName,
  ),
  import: option(
    "--import <file>",
    "start --state or --store with this file from export; rejected if a sandbox already exists there",
    fileName,
    { variables: [] },
  ),
  store: option(
    "--store <url>",
    "share the sandbox with all replicas that use the same Redis: redis://host:6379, or rediss://user:password@host (keep a password in the variable)",
    readStore,
  ),
  storePrefix: option(
    "--store-prefix <text>",
    `prefix of the key names in the store, one per sandbox (default: ${defaultPrefix})`,
    reader((text) => (isPrefix(text) ? text : undefined), "1 to 64 letters, digits and . _ : / -"),
  ),
  storeTimeout: option(
    "--store-timeout <duration>",
    "how long a request waits for the store before it gets 503: 500ms, 2s (default: 2s)",
    readDuration("500ms or 2s"),
  ),
};

/** The flags that set where a server's sandboxes are stored. */
interface KeepingFlags extends FlagValues<typeof keepingFlags>, ServeFlags, WorldFlags {
  readonly watch?: boolean;
}

interface Surroundings {
  readonly own: () => LoadedScenario;
  readonly logger: Logger;
  /** Called with a failure that no caller waits for. */
  readonly onProblem: (error: unknown) => void;
  /** Aborted when the process should stop. */
  readonly stop: AbortSignal;
}

/**
 * Opens the log that the flags set: in Redis with `--store`, in a file with `--state`, or in memory. Waits for an
 * unreachable Redis; resolves to `undefined` if stopped before it is reachable.
 *
 * Throws `usage` for conflicting flags, and the errors of `openStore` and `openFileLog`.
 */
export function openNamedLog(
  call: CommandCall<KeepingFlags>,
  surroundings: Surroundings,
): Promise<Log | undefined> {
  const { store, storePrefix, storeTimeout, state, import: imported } = call.flags;
  if (store !== undefined) return openNamedStore(store, call, surroundings);
  if (storePrefix !== undefined || storeTimeout !== undefined) {
    const lonely = storePrefix === undefined ? "--store-timeout" : "--store-prefix";
    throw usageError(`${lonely} requires a store. Add --store redis://host.`);
  }
  if (state !== undefined) return openNamedState(state, call, surroundings);
  if (imported !== undefined)
    throw usageError("--import requires a stored sandbox. Add --state <file> or --store.");
  const { own } = surroundings;
  return Promise.resolve(createMemoryLog(startNamed(own(), call.flags), call.flags));
}

async function openNamedStore(
  address: RedisAddress,
  { flags, io }: CommandCall<KeepingFlags>,
  { own, logger, onProblem, stop }: Surroundings,
): Promise<Log | undefined> {
  rejectOthers(flags);
  const { storePrefix: prefix, storeTimeout: timeout, maxInstances, instanceTtl, maxMemory } = flags;
  // Loaded on demand: the Redis client, and every route, because a replica also runs the others' calls.
  const [{ openStore }, { runCall }] = await Promise.all([
    import("../../redis/open-store.js"),
    import("../../server/control/routes/routes.js"),
  ]);
  const imported = await readImport(flags, io);
  const open = () =>
    openStore({
      ...{ imported, address, named: own(), given: givenFlags(flags, own()), runCall },
      ...{ prefix, timeout, maxInstances, instanceTtl, maxMemory, onProblem },
      ...{ onNote: logger.note, onWarning: logger.warning },
    });
  let known = "";
  while (!stop.aborted) {
    try {
      const log = await open();
      logger.note(`This is one replica of the sandbox in ${address.shown}.`);
      return log;
    } catch (error) {
      if (!(error instanceof SandboxError && error.code === "store_unavailable")) throw error;
      if (error.message !== known) logger.problem(`${error.message} Waiting until it can be reached.`);
      known = error.message;
    }
    await io.wait(1000, stop);
  }
  return undefined;
}

// A replica that behaves differently would send different responses.
function rejectOthers({ state, watch, handlers }: KeepingFlags): void {
  const others = [
    ...(state === undefined ? [] : ["--state"]),
    ...(watch === true ? ["--watch"] : []),
    ...(handlers === undefined ? [] : ["--handlers"]),
  ];
  if (others.length === 0) return;
  throw usageError(
    `--store cannot be combined with ${listed(others, "and")}: other replicas would not get the changes that a file or a handler makes.`,
  );
}

async function readImport({ import: file }: KeepingFlags, io: Io) {
  return file === undefined ? undefined : { text: await readGivenFile(file, "the state", io), given: file };
}

async function openNamedState(
  name: string,
  { flags, io }: CommandCall<KeepingFlags>,
  { own, logger, onProblem }: Surroundings,
): Promise<Log> {
  const { openFileLog } = await import("../../log/file-log.js");
  const given = givenFlags(flags, own());
  const { maxInstances, instanceTtl, maxMemory } = flags;
  const log = await openFileLog(
    { file: resolve(io.cwd, name), given: name },
    {
      ...{ own, start: () => openNamed(own(), flags), given, onProblem },
      ...{ maxInstances, instanceTtl, maxMemory, imported: await readImport(flags, io) },
    },
  );
  if (log.note !== "") logger.note(log.note);
  if (log.savedAt !== undefined) {
    const ignored = Object.entries(given).flatMap(([flag, value]) =>
      value === undefined ? [] : `--${flag}`,
    );
    const wins =
      ignored.length === 0 ? "" : ` It overrides ${listed(ignored, "and")}; remove it to start again.`;
    logger.note(
      `Continuing from ${quote(flags.import ?? name)}, saved ${new Date(log.savedAt).toISOString()}.${wins}`,
    );
  }
  return log;
}
