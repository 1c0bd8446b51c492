import { SandboxError } from "../../src/domain/errors.js";
import {
  type LogEntry,
  type LogFollower,
  type LogSnapshot,
  noLog,
  type ServerLog,
  type SharedLog,
} from "../../src/log/replica/shared-log.js";

/** A store in this process that replicas open: what they append is interleaved, and delivered to each at its own pace. */
export interface MemoryStore {
  /** Opens the log of the server as one more replica. */
  readonly open: () => ServerLog;
  /** Every entry of the server's log since it was begun, forgotten ones included. */
  readonly entries: readonly LogEntry[];
  /** The same of the log of an instance; `undefined` without one. */
  readonly entriesOf: (id: string) => readonly LogEntry[] | undefined;
  /** The instances that have a log. */
  readonly ids: () => string[];
  /** While cut off, nothing is delivered, and every append is refused; what was under way is stored later. */
  readonly cut: () => void;
  readonly mend: () => void;
  /** Forgets everything, as a store without its data does, and begins the log anew. */
  readonly lose: () => void;
}

interface MemoryStoreOptions {
  /** The store's clock. */
  readonly time: () => number;
  /** Numbers from 0 to below 1, which decide about the interleaving. */
  readonly random: () => number;
}

interface Own {
  readonly text: string;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Stored = LogEntry & { readonly own: Own };

interface Shared extends MemoryStoreOptions {
  isCut: boolean;
}

/** Makes an empty store. Positions are numbers from 1. */
export function createMemoryStore({ time, random }: MemoryStoreOptions): MemoryStore {
  const shared: Shared = { time, random, isCut: false };
  const server = createLog(shared);
  const inside = new Map<string, MemoryLog>();
  const all = () => [server, ...inside.values()];
  const erase = (id: string) => {
    inside.get(id)?.erase();
    inside.delete(id);
  };
  return {
    open: () => ({
      ...server.open(),
      inside(id, first) {
        let log: SharedLog | undefined;
        return {
          async follow(follower) {
            if (shared.isCut) throw unavailable();
            let there = inside.get(id);
            if (there === undefined) {
              const state = first();
              if (state === undefined) return noLog;
              there = createLog(shared, state.text);
              inside.set(id, there);
            }
            log = there.open();
            return log.follow(follower);
          },
          append: (text, how) => (log as SharedLog).append(text, how),
          sync: () => (log as SharedLog).sync(),
          keepSnapshot: (snapshot, how) => (log as SharedLog).keepSnapshot(snapshot, how),
          status: () => (log as SharedLog).status(),
          close: async () => log?.close(),
        };
      },
      async erase(id) {
        if (shared.isCut) throw unavailable();
        erase(id);
      },
    }),
    entries: server.entries,
    entriesOf: (id) => inside.get(id)?.entries,
    ids: () => [...inside.keys()],
    cut() {
      shared.isCut = true;
      for (const log of all()) log.refuseWaiting();
    },
    mend() {
      shared.isCut = false;
      for (const log of all()) log.wake();
    },
    lose() {
      for (const id of inside.keys()) erase(id);
      server.lose();
    },
  };
}

type MemoryLog = ReturnType<typeof createLog>;

function createLog(shared: Shared, firstText?: string) {
  const { time, random } = shared;
  const first = (): LogSnapshot => ({ position: String(all.length), text: firstText ?? foundedAs(latest) });
  const all: Stored[] = [];
  const wakers = new Set<() => void>();
  const refusers = new Set<() => void>();
  let epoch = 0;
  let latest = time();
  let snapshot = first();
  /** The number of entries that are forgotten. */
  let forgotten = 0;
  let isErased = false;
  const wake = () => {
    for (const waker of wakers) waker();
  };
  const refuseWaiting = () => {
    for (const refuseAll of refusers) refuseAll();
  };

  const open = (): SharedLog & Pick<ServerLog, "status"> => {
    const waiting = new Set<Own>();
    let outbox: Own[] = [];
    let syncs: { readonly at: number; readonly own: Own }[] = [];
    let follower: LogFollower | undefined;
    let followed = -1;
    let applied = 0;
    let isTurnDue = false;
    let isClosed = false;
    let reached: { readonly at: number; readonly resolve: () => void } | undefined;

    const refuse = (own: Own) => {
      if (!waiting.delete(own)) return;
      if (isErased) own.resolve(noLog);
      else own.reject(unavailable());
    };
    const refuseAll = () => {
      for (const own of waiting) refuse(own);
    };
    const later = () => {
      if (isTurnDue || isClosed) return;
      isTurnDue = true;
      setImmediate(turn);
    };
    const store = () => {
      for (const own of outbox.splice(0, Math.ceil(random() * outbox.length))) {
        latest = Math.max(latest, time());
        all.push({ position: String(all.length + 1), at: latest, text: own.text, own });
      }
    };
    const deliver = ({ apply }: LogFollower) => {
      for (let most = Math.floor(random() * 8); most > 0 && applied < all.length; most -= 1) {
        const { own, ...entry } = all[applied] as Stored;
        applied += 1;
        const outcome = apply(entry);
        if (waiting.delete(own)) own.resolve(outcome);
      }
    };
    const startAgain = ({ start }: LogFollower) => {
      const from = Number(snapshot.position);
      if (followed === epoch && applied >= forgotten) return;
      followed = epoch;
      // Its entries that it did not get are in the snapshot, and what came of them is not.
      for (const { own } of all.slice(applied, from)) refuse(own);
      applied = from;
      start(snapshot);
    };
    const turn = () => {
      isTurnDue = false;
      if (isErased) refuseAll();
      else if (!shared.isCut && !isClosed) exchange();
    };
    const endSyncs = () => {
      for (const { at, own } of syncs) if (applied >= at && waiting.delete(own)) own.resolve(undefined);
      syncs = syncs.filter(({ own }) => waiting.has(own));
    };
    const exchange = () => {
      const before = all.length;
      store();
      if (all.length > before) wake();
      if (follower === undefined) return;
      startAgain(follower);
      deliver(follower);
      if (reached !== undefined && applied >= reached.at) reached.resolve();
      endSyncs();
      if (outbox.length > 0 || applied < all.length) later();
    };
    const wait = (text: string, add: (own: Own) => void): Promise<unknown> => {
      if (shared.isCut || isClosed) return Promise.reject(unavailable());
      if (isErased) return Promise.resolve(noLog);
      return new Promise((resolve, reject) => {
        const own = { text, resolve, reject };
        waiting.add(own);
        add(own);
        later();
      });
    };
    wakers.add(later);
    refusers.add(refuseAll);

    return {
      follow(given) {
        follower = given;
        later();
        return new Promise<void>((resolve) => {
          reached = { at: all.length, resolve };
        });
      },
      append: (text) => wait(text, (own) => outbox.push(own)),
      sync: () => wait("", (own) => syncs.push({ at: all.length, own })),
      async keepSnapshot(kept, how) {
        if (Number(kept.position) <= Number(snapshot.position)) return;
        forgotten = Number(how === "last" ? kept.position : snapshot.position);
        snapshot = kept;
      },
      status: () => ({
        reachable: !shared.isCut,
        latencyMs: 0,
        losses: epoch,
        entries: applied - Number(snapshot.position),
      }),
      async close() {
        isClosed = true;
        wakers.delete(later);
        refusers.delete(refuseAll);
        outbox = [];
        refuseAll();
      },
    };
  };

  return {
    open,
    entries: all as readonly LogEntry[],
    refuseWaiting,
    wake,
    erase() {
      isErased = true;
      wake();
    },
    lose() {
      refuseWaiting();
      epoch += 1;
      forgotten = all.length;
      latest = Math.max(latest, time());
      snapshot = first();
      wake();
    },
  };
}

/** The first state of a log that is founded before its scenario is known: the time (epoch milliseconds). */
export function foundedAs(time: number): string {
  return String(time);
}

function unavailable(): SandboxError {
  return new SandboxError("store_unavailable", "Failed to reach the store: it is cut off.");
}
