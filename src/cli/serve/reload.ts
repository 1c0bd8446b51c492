import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { describedKeys } from "../../sandbox/scenario-keys.js";
import { scenarioSecrets } from "../../sandbox/secrets.js";
import type { World } from "../../sandbox/world.js";
import { describeFailure } from "../exit-codes.js";
import type { WorldFlags } from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import type { Log } from "./log.js";

/** The world that a reload works on, and how to load and exchange it. */
interface Reloading {
  /** The scenario that runs now. */
  readonly loaded: LoadedScenario;
  readonly load: () => Promise<LoadedScenario>;
  readonly open: (loaded: LoadedScenario) => World;
  /** The world that runs now. */
  readonly world: () => World;
  /** Replaces the old world by the one that `start` starts from the loaded scenario. */
  readonly exchange: (start: () => World, loaded: LoadedScenario) => Promise<void>;
  /** Follows these files from now on. */
  readonly follow: (files: readonly string[]) => Promise<void>;
  readonly log: Log;
  /** Whether a defect is reported with its stack. */
  readonly verbose: boolean;
}

/**
 * Makes the function that loads the scenario again, for every time its files have changed.
 *
 * Never throws: a broken scenario is reported and leaves the running world as it is; so does an unchanged one.
 */
function createReload(reloading: Reloading): () => Promise<void> {
  const { load, open, world, exchange, follow, log, verbose } = reloading;
  let { loaded } = reloading;
  let isBroken = false;

  const reload = async () => {
    const fresh = await load();
    if (fresh.files.join("\n") !== loaded.files.join("\n")) await follow(fresh.files);
    const changed = JSON.stringify(fresh.scenario) !== JSON.stringify(loaded.scenario);
    loaded = fresh;
    if (!changed) {
      // After a problem, say that it is gone.
      if (isBroken) log.note(`${fresh.name} is sound again, and the same as before: the world goes on.`);
      isBroken = false;
      return;
    }
    isBroken = false;
    const old = world();
    const before = scenarioSecrets(old);
    await exchange(() => open(fresh), fresh);
    log.note(
      `Loaded ${fresh.name} again: ${difference(before, scenarioSecrets(world()))}.${lost(old, world())}`,
    );
  };
  // One after the other: the files may change again while they are read.
  let queue = Promise.resolve();
  return () => {
    queue = queue.then(reload).catch((error) => {
      isBroken = true;
      const failure = describeFailure(error, { verbose }).trimEnd();
      log.problem(`${failure}\nThe scenario that was running goes on.`);
    });
    return queue;
  };
}

/** The keys that came, went, or have another secret now. */
function difference(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string {
  const came = Object.keys(after).filter((ref) => !Object.hasOwn(before, ref));
  const went = Object.keys(before).filter((ref) => !Object.hasOwn(after, ref));
  const changed = Object.keys(after).filter(
    (ref) => Object.hasOwn(before, ref) && before[ref] !== after[ref],
  );
  const parts = [
    ...(came.length > 0 ? [`new keys ${came.join(", ")}`] : []),
    ...(went.length > 0 ? [`gone ${went.join(", ")}`] : []),
    ...(changed.length > 0 ? [`other secrets for ${changed.join(", ")}`] : []),
  ];
  return parts.length === 0 ? "the same keys, in a new world" : parts.join("; ");
}

/** The parts of the old world that the new one lacks: the progress of its story, and the keys that were made since. */
function lost(old: World, fresh: World): string {
  const { next, steps } = old.story;
  const story = next === 0 ? "" : ` The story, ${next} of ${steps.length} steps, is back at its beginning.`;
  const described = new Set(describedKeys(old.scenario).map(({ ref }) => ref));
  const made = [...old.registry.keys.keys()].filter(
    (ref) => !described.has(ref) && !fresh.registry.keys.has(ref),
  );
  const keys = made.length === 0 ? "" : ` Gone are the keys that were made since: ${made.join(", ")}.`;
  return story + keys;
}

/** Watches the files of a scenario and loads it again when they change; resolves to how to stop that. */
export async function startWatching(
  loaded: LoadedScenario,
  flags: WorldFlags & { readonly verbose?: boolean },
  io: Io,
  { world, exchange, log }: Pick<Reloading, "world" | "exchange" | "log">,
): Promise<() => Promise<void>> {
  if (loaded.files.length === 0) {
    log.note(
      `Nothing to watch: ${loaded.name} is a bundled scenario. Copy it with \`svc-sandbox show ${loaded.name} > my.yaml\`.`,
    );
    return async () => {};
  }
  const { createWatch } = await import("../../node/files/watch.js");
  const watching = createWatch(
    () => reload(),
    (error) =>
      log.problem(
        `Failed to watch ${loaded.name}: ${(error as Error).message}. Changes may go unseen; start again to see them.`,
      ),
  );
  const reload = createReload({
    loaded,
    load: () => loadNamed(loaded.name, io),
    open: (fresh) => openNamed(fresh, flags),
    world,
    exchange,
    follow: watching.follow,
    log,
    verbose: flags.verbose === true,
  });
  await watching.follow(loaded.files);
  return watching.close;
}
