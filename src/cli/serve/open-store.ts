import { createMemoryStore } from "../../store/memory-store.js";
import type { Store } from "../../store/store.js";
import type { CommandCall } from "../command.js";
import { usageError } from "../exit-codes.js";
import { startNamed } from "../open-scenario.js";
import type { KeepingFlags, StoreContext } from "./keeping.js";

/** Opens the store that the flags set; resolves to `undefined` if stopped before an unreachable Redis is there. */
export async function openNamedStore(
  call: CommandCall<KeepingFlags>,
  context: StoreContext,
): Promise<Store | undefined> {
  const { store, storePrefix, state, import: imported } = call.flags;
  if (store !== undefined) {
    return (await import("./named-redis.js")).openNamedRedis(store, call, context);
  }
  if (storePrefix !== undefined)
    throw usageError("--store-prefix requires a store. Add --store redis://host.");
  if (state !== undefined) {
    return (await import("./named-state.js")).openNamedState(state, call, context);
  }
  if (imported !== undefined)
    throw usageError("--import requires a stored sandbox. Add --state <file> or --store.");
  return createMemoryStore(startNamed(context.own(), call.flags), call.flags);
}
