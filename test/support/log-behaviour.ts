import { expect, test } from "vitest";
import type { LogEntry, LogSnapshot, ServerLog } from "../../src/log/replica/shared-log.js";

/** The store behind a log, as these tests use it. */
interface TestedStore {
  /** Opens the log as one more replica. */
  readonly open: () => ServerLog | Promise<ServerLog>;
  /** Takes the store away, and gives it back. */
  readonly cut: () => void | Promise<void>;
  readonly mend: () => void | Promise<void>;
  /** Empties the store, as a loss of its data does. */
  readonly lose: () => void | Promise<void>;
  /** Closes everything. */
  readonly end: () => void | Promise<void>;
}

/** Tests what every implementation of a shared log promises. */
export function testSharedLog(createStore: () => TestedStore | Promise<TestedStore>): void {
  const on = (promise: string, run: (store: TestedStore) => Promise<void>) =>
    test(promise, async () => {
      const store = await createStore();
      try {
        await run(store);
      } finally {
        await store.end();
      }
    });

  on("gives every replica each entry once, in one order, and its own ones their outcome", async (store) => {
    const replicas = await Promise.all([1, 2, 3].map(() => openReplica(store)));
    const texts = replicas.flatMap((_, of) => Array.from({ length: 100 }, (_, n) => `${of}:${n} "é\n"`));
    const outcomes = await Promise.all(
      texts.map((text) => (replicas[Number(text[0])] as Replica).log.append(text)),
    );
    expect(outcomes).toEqual(texts.map((text) => `applied ${text}`));
    const last = await openReplica(store);
    await expect.poll(() => replicas.map(({ entries }) => entries.length)).toEqual([300, 300, 300]);
    for (const { entries } of replicas) expect(entries).toEqual(last.entries);
    const order = last.entries.map(({ text }) => text);
    expect([...order].sort()).toEqual([...texts].sort());
    // Those of one replica keep their order.
    expect(order.filter((text) => text.startsWith("1:"))).toEqual(texts.slice(100, 200));
    const times = last.entries.map(({ at }) => at);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(times[0]).toBeGreaterThanOrEqual(Number(last.starts[0]?.text));
  });

  on("syncs with every entry that was stored before, and appends nothing", async (store) => {
    const [one, other] = [await openReplica(store), await openReplica(store)];
    const texts = Array.from({ length: 20 }, (_, n) => `entry ${n}`);
    for (const text of texts) {
      await one.log.append(text);
      expect(await other.log.sync()).toBeUndefined();
      expect(other.entries.at(-1)?.text).toBe(text);
    }
    // Together with appends, too.
    const outcomes = await Promise.all([one.log.sync(), one.log.append("own"), one.log.sync()]);
    expect(outcomes).toEqual([undefined, "applied own", undefined]);
    await other.log.sync();
    expect(other.entries.map(({ text }) => text)).toEqual([...texts, "own"]);
  });

  on("starts a late replica from the newest snapshot", async (store) => {
    const early = await openReplica(store);
    for (const text of ["a", "b", "c"]) await early.log.append(text);
    const position = (early.entries[1] as LogEntry).position;
    await early.log.keepSnapshot({ position, text: "a and b" });
    await early.log.append("d");
    const late = await openReplica(store);
    expect(late.starts).toEqual([{ position, text: "a and b" }]);
    expect(late.entries.map(({ text }) => text)).toEqual(["c", "d"]);
    expect(early.starts).toHaveLength(1);
    expect([early.log.status().entries, late.log.status().entries]).toEqual([2, 2]);
  });

  on("keeps the newer of two snapshots", async (store) => {
    const { log, entries } = await openReplica(store);
    await log.append("a");
    await log.append("b");
    const [a, b] = entries as [LogEntry, LogEntry];
    await log.keepSnapshot({ position: b.position, text: "both" });
    await log.keepSnapshot({ position: a.position, text: "one" });
    const late = await openReplica(store);
    expect(late.starts.map(({ text }) => text)).toEqual(["both"]);
  });

  on("refuses an append while the store is away, and goes on when it is back", async (store) => {
    const [one, other] = [await openReplica(store), await openReplica(store)];
    await one.log.append("before");
    await store.cut();
    await expect(one.log.append("meanwhile")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(one.log.sync()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(one.log.status().reachable).toBe(false);
    await store.mend();
    await expect.poll(() => one.log.append("after").catch(() => "refused")).toBe("applied after");
    await expect.poll(() => other.entries.at(-1)?.text).toBe("after");
    expect(one.log.status().reachable).toBe(true);
    expect(other.entries).toEqual(one.entries);
  });

  on("starts every replica anew when the store has lost its data", async (store) => {
    const [one, other] = [await openReplica(store), await openReplica(store)];
    await one.log.append("lost");
    await store.lose();
    await expect.poll(() => one.log.append("new").catch(() => "refused")).toBe("applied new");
    await expect.poll(() => [one.starts.length, other.starts.length]).toEqual([2, 2]);
    expect(one.starts[1]).toEqual(other.starts[1]);
    expect(Number(one.starts[1]?.text)).toBeGreaterThanOrEqual(Number(one.starts[0]?.text));
    await expect.poll(() => other.entries.at(-1)?.text).toBe("new");
    // Only what came since the start counts.
    expect(other.sinceStart()).toEqual(one.sinceStart());
    expect(one.sinceStart()).not.toContain("lost");
  });

  on("rejects what is under way when it is closed", async (store) => {
    const { log } = await openReplica(store);
    const late = [log.append("too late"), log.sync()];
    for (const one of late) one.catch(() => {});
    await log.close();
    for (const one of late) await expect(one).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(log.append("later")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(log.sync()).rejects.toMatchObject({ code: "store_unavailable" });
  });
}

interface Replica {
  readonly log: ServerLog;
  readonly starts: LogSnapshot[];
  readonly entries: LogEntry[];
  /** The texts of the entries since the last start. */
  readonly sinceStart: () => string[];
}

async function openReplica(store: TestedStore): Promise<Replica> {
  const log = await store.open();
  const starts: LogSnapshot[] = [];
  const entries: LogEntry[] = [];
  let begin = 0;
  await log.follow({
    start(from) {
      starts.push(from);
      begin = entries.length;
    },
    apply(entry) {
      entries.push(entry);
      return `applied ${entry.text}`;
    },
  });
  return { log, starts, entries, sinceStart: () => entries.slice(begin).map(({ text }) => text) };
}
