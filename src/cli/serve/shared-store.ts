import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Log } from "../../node/log.js";
import type { RedisAddress } from "../../node/store/redis/address.js";
import type { Replica } from "../../node/store/replica.js";
import { givenOptions } from "../../sandbox/runtime.js";
import { listed } from "../../schema/words.js";
import { usageError } from "../exit-codes.js";
import type { WorldFlags } from "../flags.js";

/** The flags that decide about a shared store. */
export interface StoreFlags extends WorldFlags {
  readonly store?: RedisAddress;
  readonly storePrefix?: string;
  readonly storeTimeout?: number;
  readonly maxInstances?: number;
  readonly instanceTtl?: number;
  readonly state?: string;
  readonly watch?: boolean;
  readonly handlers?: string;
}

/**
 * Makes the server one replica of the sandbox in the store that `--store` names; `undefined` without the flag.
 *
 * Throws `usage` for flags that do not go with it, and what `openStore` throws.
 */
export async function openNamedStore(
  loaded: LoadedScenario,
  flags: StoreFlags,
  log: Log,
  onProblem: (error: unknown) => void,
): Promise<Replica | undefined> {
  const { store: address, storePrefix: prefix, storeTimeout: timeout, maxInstances, instanceTtl } = flags;
  if (address === undefined) {
    if (prefix === undefined && timeout === undefined) return undefined;
    const lonely = prefix === undefined ? "--store-timeout" : "--store-prefix";
    throw usageError(`Failed to use ${lonely}: there is no store. Name it with --store redis://host.`);
  }
  refuseOthers(flags);
  // The client of Redis is loaded by those alone who need it.
  const { openStore } = await import("../../node/store/open-store.js");
  const replica = await openStore({
    address,
    named: loaded,
    given: givenOptions(flags),
    ...{ prefix, timeout, maxInstances, instanceTtl, onProblem, onNote: log.note },
  });
  log.note(`This is one replica of the sandbox in ${address.shown}.`);
  return replica;
}

/** The log of one replica: of the requests to all of them it has those that came to this one. */
export function ownLog(log: Log, isOwn: () => boolean): Log {
  return {
    ...log,
    event(event, instance) {
      if (event.type !== "request" || isOwn()) log.event(event, instance);
    },
  };
}

// A replica that did what the others do not would answer otherwise than they.
function refuseOthers({ state, watch, handlers }: StoreFlags): void {
  const others = [
    ...(state === undefined ? [] : ["--state"]),
    ...(watch === true ? ["--watch"] : []),
    ...(handlers === undefined ? [] : ["--handlers"]),
  ];
  if (others.length === 0) return;
  throw usageError(
    `Failed to start with --store and ${listed(others, "and")}: the store keeps the world, and what a file or a handler changes in it, the other replicas would not know. Leave one out.`,
  );
}
