import { latestOf } from "../../history/exchange.js";
import { describeRuntime, type RuntimeState } from "../../world/state.js";
import type { ServerState } from "../instances.js";
import { defaultMostJournals } from "../journals.js";
import type { DrivenCopy } from "./driven-copy.js";
import type { OpenInstance } from "./open-instances.js";
import type { Registered, Registry } from "./registry.js";
import { type FirstState, noLog } from "./shared-log.js";

// Reads the state of a server and its instances from their logs, and creates the first states of new logs.

interface Described {
  readonly own: RuntimeState;
  readonly idSeries: number;
  readonly at: number;
  readonly listed: readonly Registered[];
}

/** Describes a server and its instances at one moment of each log. Instances share the limit of their journals. */
export async function describeLogs(
  { copy, append }: Pick<DrivenCopy, "copy" | "append">,
  registry: Registry,
  load: (registered: Registered) => Promise<OpenInstance | undefined>,
): Promise<ServerState> {
  const lookAt = <Seen>(log: Pick<DrivenCopy, "append">, read: () => Seen) =>
    log.append({ kind: "look" }, { read }) as Promise<Seen | typeof noLog>;
  const { own, idSeries, at, listed } = (await lookAt({ append }, () => ({
    own: describeRuntime(copy.runtime()),
    idSeries: copy.runtime().idSeries.last,
    at: copy.now(),
    listed: [...registry.all()],
  }))) as Described;
  const instances: ServerState["instances"][number][] = [];
  for (const registered of listed) {
    const { id, tenancy, createdAt, usedAt, given, idGroup } = registered;
    const opened = await load(registered);
    const runtime =
      opened && (await lookAt(opened.driven, () => describeRuntime(opened.driven.copy.runtime())));
    // The instance was removed in between.
    if (runtime === undefined || runtime === noLog) continue;
    const exchanges = latestOf(runtime.exchanges, defaultMostJournals / listed.length);
    const state = { ...runtime, exchanges };
    instances.push({ ...tenancy, id, createdAt, idle: at - usedAt, given, idGroup, runtime: state });
  }
  return { own, idSeries, instances };
}

/** The first states of a server's logs. */
export interface FirstStates {
  readonly server: FirstState;
  readonly instances: readonly (readonly [id: string, FirstState])[];
}

/** Returns the first states of logs that continue a server at `now` (epoch milliseconds). Time in between is not idle. */
export function firstStatesOf({ own, idSeries, instances }: ServerState, now: number): FirstStates {
  const registered = instances.map(({ runtime, id, createdAt, idle, given, idGroup = 0, ...tenancy }) => ({
    ...{ id, tenancy, createdAt, given, idGroup, name: runtime.name, seed: runtime.snapshot.seed ?? 1 },
    idle: idle - (now - own.at),
  }));
  const server = { own, idSeries, instances: registered, sources: [], erasing: [], reported: [] };
  const firstOf = (state: { readonly own: RuntimeState }) => ({
    at: state.own.at,
    text: JSON.stringify(state),
  });
  return {
    server: firstOf(server),
    instances: instances.map(({ id, runtime }) => [id, firstOf({ own: runtime })]),
  };
}
