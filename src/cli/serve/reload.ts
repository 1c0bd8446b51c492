import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { describedKeys } from "../../sandbox/scenario-keys.js";
import { scenarioSecrets } from "../../sandbox/secrets.js";
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
      const before = scenarioSecrets(old);
      await exchange(() => openNamed(fresh, flags), fresh);
      const keys = difference(before, scenarioSecrets(world()));
      log.note(`Loaded ${name} again: ${keys}.${lost(old, world())}`);
    } else if (wasBroken) {
      log.note(`${name} is sound again, and the same as before: the world goes on.`);
    }
  };
  const { createWatch } = await import("../../node/files/watch.js");
  const watching = createWatch(
    () =>
      reload().catch((error) => {
        isBroken = true;
        const failure = describeFailure(error, { verbose: flags.verbose === true }).trimEnd();
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
