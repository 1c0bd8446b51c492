import type { RedisAddress } from "../../node/addresses.js";
import { SandboxError } from "../../rules/errors.js";
import { listed } from "../../rules/schema/words.js";
import { openRedisStore } from "../../store/redis/redis-store.js";
import type { Store } from "../../store/store.js";
import type { CommandCall } from "../command.js";
import { usageError } from "../exit-codes.js";
import { givenFlags } from "../open-scenario.js";
import { type KeepingFlags, readImport, type StoreContext } from "./serve-options.js";

// Loaded on demand: the Redis client, and every route, because a replica also runs the others' calls.

/** Waits for an unreachable Redis; resolves to `undefined` if stopped before it is reachable. */
export async function openNamedRedis(
  address: RedisAddress,
  { flags, io }: CommandCall<KeepingFlags>,
  { own, logger, onProblem, stop }: StoreContext,
): Promise<Store | undefined> {
  rejectOthers(flags);
  const { storePrefix: prefix, maxInstances, instanceTtl, maxMemory } = flags;
  const imported = await readImport(flags, io);
  const open = () =>
    openRedisStore({
      imported,
      address,
      named: own(),
      given: givenFlags(flags, own()),
      prefix,
      maxInstances,
      instanceTtl,
      maxMemory,
      onProblem,
      onNote: logger.note,
      onWarning: logger.warning,
    });
  let lastText = "";
  while (!stop.aborted) {
    try {
      const store = await open();
      logger.note(`This is one replica of the sandbox in ${address.shown}.`);
      return store;
    } catch (error) {
      if (!(error instanceof SandboxError && error.code === "store_unavailable")) throw error;
      if (error.message !== lastText) logger.problem(`${error.message} Waiting until it can be reached.`);
      lastText = error.message;
    }
    await io.wait(1000, stop);
  }
  return undefined;
}

// A replica that behaves differently would send different responses.
function rejectOthers({ state, watch }: KeepingFlags): void {
  const others = [...(state === undefined ? [] : ["--state"]), ...(watch === true ? ["--watch"] : [])];
  if (others.length === 0) return;
  throw usageError(
    `--store cannot be combined with ${listed(others, "and")}: other replicas would not get the changes of a file.`,
  );
}
