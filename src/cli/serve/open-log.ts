import { resolve } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import type { Log } from "../../log/log.js";
import { createMemoryLog } from "../../log/memory-log.js";
import { defaultPrefix, isPrefix, type RedisAddress, readRedisAddress } from "../../log/redis/address.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { listed, quote } from "../../schema/words.js";
import { givenOptions } from "../../world/runtime.js";
import { type Call, type FlagValues, fileName, flag, noVariable, reader, toggle } from "../command.js";
import { usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import { readDuration, type WorldFlags } from "../flags.js";
import type { Io } from "../io.js";
import { openNamed, startNamed } from "../open-scenario.js";
import type { ServeFlags } from "./serve-options.js";

// The URL is not repeated: it may hold a password.
function readStore(text: string, from: string) {
  const address = readRedisAddress(text);
  if (address !== undefined) return address;
  throw usageError(
    `Invalid ${from}: use the URL of a Redis, such as redis://localhost:6379 or rediss://user:password@redis.example (in a password, write % as %25, / as %2F, # as %23, @ as %40).`,
  );
}

export const keepingFlags = {
  state: flag(
    "--state <file>",
    "keep the sandbox in this file, with its requests and instances, so that it survives a restart: the file wins over --seed, --now, --frozen and --profile",
    fileName,
  ),
  import: flag(
    "--import <file>",
    "start --state or --store from this file, which export has written; rejected when a sandbox is already there",
    fileName,
    noVariable,
  ),
  migrate: toggle(
    "--migrate",
    "continue the sandbox of --state or --store in a newer version, or with a scenario that has more organizations and keys; its state before is kept",
  ),
  store: flag(
    "--store <url>",
    "share the sandbox with every other one that is started with the same Redis: redis://host:6379, or rediss://user:password@host (a password is better kept in the variable)",
    readStore,
  ),
  storePrefix: flag(
    "--store-prefix <text>",
    `prefix of the key names in the store, one for each sandbox there (default: ${defaultPrefix})`,
    reader((text) => (isPrefix(text) ? text : undefined), "1 to 64 letters, digits and . _ : / -"),
  ),
  storeTimeout: flag(
    "--store-timeout <duration>",
    "how long a request waits for the store before it gets 503: 500ms, 2s (default: 2s)",
    readDuration("500ms or 2s"),
  ),
};

/** The flags that decide where the sandboxes of a server are kept. */
interface KeepingFlags extends FlagValues<typeof keepingFlags>, ServeFlags, WorldFlags {
  readonly watch?: boolean;
}

interface Surroundings {
  /** Returns the scenario that is served. */
  readonly own: () => LoadedScenario;
  readonly logger: Logger;
  /** Called with a failure for which no caller waits. */
  readonly onProblem: (error: unknown) => void;
  /** Aborted when the process is asked to stop. */
  readonly stop: AbortSignal;
}

/**
 * Opens the log that the flags name: in Redis with `--store`, in a file with `--state`, else in memory. Waits for a Redis
 * that cannot be reached; resolves to `undefined` when stopped before it can.
 *
 * Throws `usage` for flags that do not go together, and what `openStore` and `openFileLog` throw.
 */
export function openNamedLog(call: Call<KeepingFlags>, surroundings: Surroundings): Promise<Log | undefined> {
  const { store, storePrefix, storeTimeout, state, import: imported, migrate } = call.flags;
  if (store !== undefined) return openNamedStore(store, call, surroundings);
  if (storePrefix !== undefined || storeTimeout !== undefined) {
    const lonely = storePrefix === undefined ? "--store-timeout" : "--store-prefix";
    throw usageError(`${lonely} requires a store. Add --store redis://host.`);
  }
  if (state !== undefined) return openNamedState(state, call, surroundings);
  if (imported !== undefined || migrate) {
    const lonely = migrate ? "--migrate" : "--import";
    throw usageError(`${lonely} requires a stored sandbox. Add --state <file> or --store.`);
  }
  const { own } = surroundings;
  return Promise.resolve(createMemoryLog(startNamed(own(), call.flags), call.flags));
}

async function openNamedStore(
  address: RedisAddress,
  { flags, io }: Call<KeepingFlags>,
  { own, logger, onProblem, stop }: Surroundings,
): Promise<Log | undefined> {
  refuseOthers(flags);
  const { storePrefix: prefix, storeTimeout: timeout, maxInstances, instanceTtl, maxMemory } = flags;
  // Loaded when needed: the client of Redis, and every route, which a replica runs for the others too.
  const [{ openStore }, { runCall }] = await Promise.all([
    import("../../log/redis/open-store.js"),
    import("../../control/run-call.js"),
  ]);
  const imported = await readImport(flags, io);
  const open = () =>
    openStore({
      ...{ imported, migrate: flags.migrate },
      ...{ address, named: own(), given: givenOptions(flags), runCall },
      ...{ prefix, timeout, maxInstances, instanceTtl, maxMemory, onProblem, onNote: logger.note },
    });
  let close: (() => Promise<void>) | undefined;
  let known = "";
  try {
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
      close ??= await serveWaiting(flags);
      await io.wait(1000, stop);
    }
    return undefined;
  } finally {
    await close?.();
  }
}

// A port that the system chooses is not known to any probe, and a probe over HTTPS would need the certificate.
async function serveWaiting({ port = 4747, host = "127.0.0.1", tls, cert }: KeepingFlags) {
  if (port === 0 || tls === true || cert !== undefined) return undefined;
  const { serveUnready } = await import("../../server/serve-unready.js");
  return serveUnready(port, host);
}

// A replica that did what the others do not would answer otherwise than they.
function refuseOthers({ state, watch, handlers }: KeepingFlags): void {
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

/** Reads the file of `--import`. */
async function readImport({ import: file }: KeepingFlags, io: Io) {
  return file === undefined ? undefined : { text: await readGivenFile(file, "the state", io), given: file };
}

async function openNamedState(
  name: string,
  { flags, io }: Call<KeepingFlags>,
  { own, logger, onProblem }: Surroundings,
): Promise<Log> {
  const { openFileLog } = await import("../../log/file/file-log.js");
  const given = givenOptions(flags);
  const { maxInstances, instanceTtl, maxMemory, migrate } = flags;
  const log = await openFileLog(
    { file: resolve(io.cwd, name), given: name },
    {
      ...{ own, start: () => openNamed(own(), flags), given, onProblem, migrate },
      ...{ maxInstances, instanceTtl, maxMemory, imported: await readImport(flags, io) },
    },
  );
  if (log.migrated !== undefined) {
    const { changes, backup } = log.migrated;
    const kept = backup === undefined ? "" : ` The state before is in ${quote(backup)}.`;
    logger.note(`Migrated: ${listed(changes, "and")}.${kept}`);
  }
  if (log.savedAt !== undefined) {
    const ignored = Object.entries(given).flatMap(([flag, value]) =>
      value === undefined ? [] : `--${flag}`,
    );
    const wins =
      ignored.length === 0 ? "" : ` It wins over ${listed(ignored, "and")}; remove it to start again.`;
    logger.note(
      `Going on from ${quote(flags.import ?? name)}, saved ${new Date(log.savedAt).toISOString()}.${wins}`,
    );
  }
  return log;
}
