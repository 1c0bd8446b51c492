import { base62From } from "../../domain/seed.js";
import { nodePlatform } from "../../node/platform.js";
import type { Entry, EntryContent } from "./entries.js";
import type { Copy, Outcome, OwnPart } from "./sandbox-copy.js";
import { type LogEntry, type LogSnapshot, noLog, type SharedLog } from "./shared-log.js";

/** The shared part of a replica's logs. */
export interface Driver {
  /** The number of entries before a log is compacted. */
  readonly compactEvery: number;
  /** Called if an append fails that no caller waits for. */
  readonly report: (error: unknown) => void;
  /** Whether the entry being applied is this replica's own. */
  isOwn: boolean;
}

/** An unused log is compacted after this many entries or characters, and milliseconds without use. */
const restEvery = 500;
const restCharacters = 100_000;
const restTime = 30_000;

export type DrivenCopy = ReturnType<typeof driveCopy>;

/** Connects a copy to its log; also compacts the log after `compactCharacters`. */
export function driveCopy(copy: Copy, log: SharedLog, driver: Driver, compactCharacters: number) {
  const { compactEvery, report } = driver;
  // Unique for each copy: entries of an earlier copy, unloaded since, are not its own.
  const name = base62From(nodePlatform.random, 8);
  /** The entries in progress. */
  const underWay = new Map<string, { readonly entry: Entry; readonly own: OwnPart }>();
  let count = 0;
  let isCompacting = false;
  let appliedAt = nodePlatform.stopwatch();

  const append = (content: EntryContent, own: OwnPart = {}, how?: "making room"): Promise<unknown> => {
    count += 1;
    const entry: Entry =
      content.kind === "request"
        ? // Without a spread, serializing takes half as long.
          { kind: content.kind, request: content.request, by: name, n: count }
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
      // If another replica compacts first, there are fewer entries by then.
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
    // A request is plain data for this entry only. Other entries are parsed, so that every copy applies the same data.
    const entry = known?.entry.kind === "request" ? known.entry : read(logged.text);
    if (entry === undefined) return { error: new Error("an entry is not valid JSON") };
    driver.isOwn = entry.by === name;
    const outcome = copy.apply(entry, logged, driver.isOwn ? (known?.own ?? {}) : undefined);
    // The replica with the most requests is the likeliest to compact.
    const isLong = copy.applied() >= compactEvery || copy.sizes().characters >= compactCharacters;
    if (driver.isOwn && !isCompacting && isLong) compact();
    driver.isOwn = false;
    return outcome;
  };
  const makeRoom = () => {
    // Also counts a snapshot that could not be stored.
    const isWorthIt = copy.applied() > 1 || log.status().entries > 100;
    if (!isCompacting && isWorthIt) compact("making room");
  };
  /** Estimates the current time of the store's clock. */
  const time = () => copy.now() + nodePlatform.stopwatch() - appliedAt;
  return {
    append,
    follow: () => log.follow({ start: copy.startFrom, apply, makeRoom }),
    time,
    isIdle: () => underWay.size === 0 && !isCompacting,
    /** Whether a timeline step is due. */
    isDue(): boolean {
      const { timeline, clock } = copy.runtime().world();
      return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : time() - copy.now());
    },
    /** Compacts a log that no other replica uses before this replica stops following it. */
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
