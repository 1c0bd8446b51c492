import { resolve } from "node:path";
import { listed, quote } from "../../rules/schema/words.js";
import { openFileStore } from "../../store/file/file-store.js";
import type { Store } from "../../store/store.js";
import type { CommandCall } from "../command.js";
import { givenFlags, startNamed } from "../open-scenario.js";
import { type KeepingFlags, readImport, type StoreContext } from "./serve-options.js";

/** Continues the sandbox of a file, or starts one, and notes which. */
export async function openNamedState(
  name: string,
  { flags, io }: CommandCall<KeepingFlags>,
  { own, logger, onProblem, run }: StoreContext,
): Promise<Store> {
  const given = givenFlags(flags, own());
  const { maxInstances, instanceTtl, maxMemory } = flags;
  const store = await openFileStore(
    { file: resolve(io.cwd, name), given: name },
    {
      own,
      start: () => startNamed(own(), flags, run),
      given,
      onProblem,
      maxInstances,
      instanceTtl,
      maxMemory,
      imported: await readImport(flags, io),
    },
  );
  if (store.note !== "") logger.note(store.note);
  if (store.savedAt !== undefined) {
    const ignored = Object.entries(given).flatMap(([flag, value]) =>
      value === undefined ? [] : `--${flag}`,
    );
    const wins =
      ignored.length === 0 ? "" : ` It overrides ${listed(ignored, "and")}; remove it to start again.`;
    logger.note(
      `Continuing from ${quote(flags.import ?? name)}, saved ${new Date(store.savedAt).toISOString()}.${wins}`,
    );
  }
  return store;
}
