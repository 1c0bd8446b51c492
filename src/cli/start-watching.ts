import type { LoadedScenario } from "../node/files/load-scenario.js";
import type { Call } from "./command.js";
import { loadNamed, openNamed } from "./open-scenario.js";
import { createReload, type Reloading } from "./reload.js";

/** Watches the files of a scenario and loads it again when they change; resolves to how to stop that. */
export async function startWatching(
  call: Call,
  loaded: LoadedScenario,
  { world, exchange, log }: Pick<Reloading, "world" | "exchange" | "log">,
): Promise<() => Promise<void>> {
  if (loaded.files.length === 0) {
    log.note(
      `Nothing to watch: ${loaded.name} is a bundled scenario. Copy it with \`svc-sandbox show ${loaded.name} > my.yaml\`.`,
    );
    return async () => {};
  }
  const { createWatch } = await import("../node/files/watch.js");
  const watching = createWatch(
    () => reload(),
    (error) =>
      log.problem(
        `Failed to watch ${loaded.name}: ${(error as Error).message}. Changes may go unseen; start again to see them.`,
      ),
  );
  const reload = createReload({
    loaded,
    load: () => loadNamed(loaded.name, { ...call, implied: false }),
    open: (fresh) => openNamed(fresh, call.flags),
    world,
    exchange,
    follow: watching.follow,
    log,
    verbose: call.flags.verbose === true,
  });
  await watching.follow(loaded.files);
  return watching.close;
}
