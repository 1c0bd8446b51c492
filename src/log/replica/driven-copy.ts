import { base62From } from "../../domain/seed.js";
import { nodePlatform } from "../../node/platform.js";
import type { Entry, EntryContent } from "./entries.js";
import type { Copy, Outcome, OwnPart } from "./sandbox-copy.js";
import { type LogEntry, type LogSnapshot, noLog, type SharedLog } from "./shared-log.js";

/** What all logs of a replica have in common. */
export interface Driver {
  /** The entries after which a log is compacted. */
  readonly compactEvery: number;
  /** Called when an entry could not be appended for which no caller waits. */
  readonly report: (error: unknown) => void;
  /** Whether the entry that is applied at the moment is one of this replica. */
  isOwn: boolean;
}

/** Entries after which a log that nobody has used for some milliseconds is compacted, and their characters. */
const restEvery = 500;
const restCharacters = 100_000;
const restTime = 30_000;

export type DrivenCopy = ReturnType<typeof driveCopy>;

/** Lets a log drive a copy, to which this replica appends entries; it is compacted after so many characters, too. */
export function driveCopy(copy: Copy, log: SharedLog, driver: Driver, compactCharacters: number) {
  const { compactEvery, report } = driver;
  // Each copy has its own: the entries of an earlier one, which this replica has unloaded, are another's.
  const name = base62From(nodePlatform.random, 8);
  /** The entries that are under way. */
  const underWay = new Map<string, { readonly entry: Entry; readonly own: OwnPart }>();
  let count = 0;
  let isCompacting = false;
  let appliedAt = nodePlatform.stopwatch();

  const append = (content: EntryContent, own: OwnPart = {}, how?: "making room"): Promise<unknown> => {
    count += 1;
    const entry: Entry =
      content.kind === "request"
        ? // Without a spread it takes half of the time to put into words.
          {
            kind: content.kind,
            request: content.request,
            connection: content.connection,
            by: name,
            n: count,
          }
        : { ...content, by: name, n: count };
    const text = JSON.stringify(entry);
    underWay.set(text, { entry, own });
    return log.append(text, how).then(
      (outcome) => {
        underWay.delete(text);
        return outcome === noLog ? noLog : resultOf(outcome as Outcome);
      },
      (error) => {
        underWay.delete(text);
        throw error;
      },
    );
  };
  const compact = async (how?: "making room" | "last") => {
    isCompacting = true;
    try {
      // Where another replica's comes first, there are fewer by then.
      const content = { kind: "compact", least: copy.applied() } as const;
      const snapshot = await append(content, {}, how === "last" ? undefined : how);
      if (snapshot !== undefined && snapshot !== noLog) {
        await log.keepSnapshot(snapshot as LogSnapshot, how === "last" ? how : undefined);
      }
    } catch (error) {
      report(error);
    }
    isCompacting = false;
  };
  const read = (text: string): Entry | undefined => {
    try {
      return JSON.parse(text);
    } catch (error) {
      report(error);
      return undefined;
    }
  };
  const apply = (logged: LogEntry): Outcome => {
    appliedAt = nodePlatform.stopwatch();
    const known = underWay.get(logged.text);
    // A request is plain data that is made for its entry; all others are read, so that every copy has the same.
    const entry = known?.entry.kind === "request" ? known.entry : read(logged.text);
    if (entry === undefined) return { error: new Error("an entry is not valid JSON") };
    driver.isOwn = entry.by === name;
    const outcome = copy.apply(entry, logged, driver.isOwn ? (known?.own ?? {}) : undefined);
    // By whoever is asked the most.
    const isLong = copy.applied() >= compactEvery || copy.sizes().characters >= compactCharacters;
    if (driver.isOwn && !isCompacting && isLong) compact();
    driver.isOwn = false;
    return outcome;
  };
  const makeRoom = () => {
    // Also after a snapshot that was made and could not be stored.
    const isWorthIt = copy.applied() > 1 || log.status().entries > 100;
    if (!isCompacting && isWorthIt) compact("making room");
  };
  /** About now, by the store's clock. */
  const time = () => copy.now() + nodePlatform.stopwatch() - appliedAt;
  return {
    append,
    follow: () => log.follow({ start: copy.startFrom, apply, makeRoom }),
    time,
    isIdle: () => underWay.size === 0 && !isCompacting,
    /** Whether a step of its timeline is due. */
    isDue(): boolean {
      const { timeline, clock } = copy.runtime().world();
      return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : time() - copy.now());
    },
    /** Makes its log short before it is no longer followed, if no other replica uses it. */
    async rest(): Promise<void> {
      const isLong = copy.applied() >= restEvery || copy.sizes().characters >= restCharacters;
      if (isLong && nodePlatform.stopwatch() - appliedAt >= restTime) await compact("last");
    },
    copy,
    log,
  };
}

function resultOf(outcome: Outcome): unknown {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
