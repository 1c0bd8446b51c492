import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { World } from "../../sandbox/world.js";
import { describeFailure } from "../exit-codes.js";
import type { WorldFlags } from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import type { Log } from "./log.js";

/** The world that a scenario's files are watched for. */
interface Watched {
  /** The world that runs now. */
  readonly world: () => World;
  /** Replaces the old world by the one that `start` starts from the loaded scenario. */
  readonly exchange: (start: () => World, loaded: LoadedScenario) => Promise<void>;
  readonly log: Log;
}

/**
 * Watches the files of a scenario and loads it again when they change; resolves to how to stop that.
 *
 * A broken scenario is reported and leaves the running world as it is; so does an unchanged one.
 */
export async function startWatching(
  first: LoadedScenario,
  flags: WorldFlags & { readonly verbose?: boolean },
  io: Io,
  { world, exchange, log }: Watched,
): Promise<() => Promise<void>> {
  const { name } = first;
  if (first.files.length === 0) {
    log.note(
      `Nothing to watch: ${name} is a bundled scenario. Copy it with \`svc-sandbox show ${name} > my.yaml\`.`,
    );
    return async () => {};
  }
  let loaded = first;
  let isBroken = false;
  const reload = async () => {
    const fresh = await loadNamed(name, io);
    if (fresh.files.join("\n") !== loaded.files.join("\n")) await watching.follow(fresh.files);
    const isChanged = JSON.stringify(fresh.scenario) !== JSON.stringify(loaded.scenario);
    const wasBroken = isBroken;
    loaded = fresh;
    isBroken = false;
    if (isChanged) {
      const old = world();
      const { next, steps } = old.story;
      await exchange(() => openNamed(fresh, flags), fresh);
      const story =
        next === 0 ? "" : ` The story, ${next} of ${steps.length} steps, is back at its beginning.`;
      log.note(`Loaded ${name} again: ${difference(old, world())}.${story}`);
    } else if (wasBroken) {
      log.note(`${name} is sound again, and the same as before: the world goes on.`);
    }
  };
  const { createWatch } = await import("../../node/files/watch.js");
  const watching = createWatch(
    () =>
      reload().catch((error) => {
        isBroken = true;
        const failure = describeFailure(error, flags).trimEnd();
        log.problem(`${failure}\nThe scenario that was running goes on.`);
      }),
    (error) =>
      log.problem(
        `Failed to watch ${name}: ${(error as Error).message}. Changes may go unseen; start again to see them.`,
      ),
  );
  await watching.follow(first.files);
  return watching.close;
}

/** The keys that came, went, or have another secret now, those that were made at run time included. */
function difference({ registry: old }: World, { registry: fresh }: World): string {
  const refs = [...fresh.keys.keys()];
  const isOther = (ref: string) => old.key(ref).key.sha256 !== fresh.key(ref).key.sha256;
  const lists = [
    ["new keys", refs.filter((ref) => !old.keys.has(ref))],
    ["gone", [...old.keys.keys()].filter((ref) => !fresh.keys.has(ref))],
    ["other secrets for", refs.filter((ref) => old.keys.has(ref) && isOther(ref))],
  ] as const;
  const parts = lists.flatMap(([what, found]) => (found.length === 0 ? [] : `${what} ${found.join(", ")}`));
  return parts.length === 0 ? "the same keys, in a new world" : parts.join("; ");
}
