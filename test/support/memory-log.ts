import { SandboxError } from "../../src/domain/errors.js";
import type { LogEntry, LogFollower, LogSnapshot, SharedLog } from "../../src/log/replica/shared-log.js";

/** A store in this process that replicas open: what they append is interleaved, and delivered to each at its own pace. */
export interface MemoryStore {
  /** Opens the log as one more replica. */
  readonly open: () => SharedLog;
  /** Every entry since the log was begun, forgotten ones included. */
  readonly entries: readonly LogEntry[];
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

/** Makes an empty store. Positions are numbers from 1. */
export function createMemoryStore({ time, random }: MemoryStoreOptions): MemoryStore {
  const all: Stored[] = [];
  const wakers = new Set<() => void>();
  const refusers = new Set<() => void>();
  let foundedAt = time();
  let epoch = 0;
  let latest = foundedAt;
  let begun = 0;
  let snapshot: LogSnapshot | undefined;
  /** The number of entries that are forgotten. */
  let forgotten = 0;
  let isCut = false;
  const wake = () => {
    for (const waker of wakers) waker();
  };
  const refuseWaiting = () => {
    for (const refuseAll of refusers) refuseAll();
  };

  const open = (): SharedLog => {
    const waiting = new Set<Own>();
    let outbox: Own[] = [];
    let follower: LogFollower | undefined;
    let followed = -1;
    let applied = 0;
    let isTurnDue = false;
    let isClosed = false;
    let reached: { readonly at: number; readonly resolve: () => void } | undefined;

    const refuse = (own: Own) => {
      if (waiting.delete(own)) own.reject(unavailable());
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
      const from = snapshot === undefined ? begun : Number(snapshot.position);
      if (followed === epoch && applied >= forgotten) return;
      followed = epoch;
      // Its entries that it did not get are in the snapshot, and what came of them is not.
      for (const { own } of all.slice(applied, from)) refuse(own);
      applied = from;
      start({ foundedAt, snapshot });
    };
    const turn = () => {
      isTurnDue = false;
      if (isCut || isClosed) return;
      const before = all.length;
      store();
      if (all.length > before) wake();
      if (follower === undefined) return;
      startAgain(follower);
      deliver(follower);
      if (reached !== undefined && applied >= reached.at) reached.resolve();
      if (outbox.length > 0 || applied < all.length) later();
    };
    wakers.add(later);
    refusers.add(refuseAll);

    return {
      follow(given) {
        follower = given;
        later();
        return new Promise((resolve) => {
          reached = { at: all.length, resolve };
        });
      },
      append(text) {
        if (isCut || isClosed) return Promise.reject(unavailable());
        return new Promise((resolve, reject) => {
          const own = { text, resolve, reject };
          waiting.add(own);
          outbox.push(own);
          later();
        });
      },
      async keepSnapshot(kept) {
        const isNewer = Number(kept.position) > Number(snapshot?.position ?? begun);
        if (!isNewer) return;
        forgotten = Number(snapshot?.position ?? begun);
        snapshot = kept;
      },
      status: () => ({
        reachable: !isCut,
        latencyMs: 0,
        losses: epoch,
        entries: applied - Number(snapshot?.position ?? begun),
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
    entries: all,
    cut() {
      isCut = true;
      refuseWaiting();
    },
    mend() {
      isCut = false;
      wake();
    },
    lose() {
      refuseWaiting();
      epoch += 1;
      begun = all.length;
      forgotten = begun;
      snapshot = undefined;
      latest = Math.max(latest, time());
      foundedAt = latest;
      wake();
    },
  };
}

function unavailable(): SandboxError {
  return new SandboxError("store_unavailable", "Failed to reach the store: it is cut off.");
}
