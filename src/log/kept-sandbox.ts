import { nodePlatform } from "../node/platform.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { mostKept } from "../sandbox/journal/history.js";
import type { RecordChange } from "../sandbox/record.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { describeRequests } from "../sandbox/start.js";
import { openSandboxFile, type StatePlace, unwritableState } from "./sandbox-file.js";
import { requestLine, type SavedState, stateLine } from "./state-format.js";

/** What the file of a sandbox lacks: nothing, requests, everything, or its removal. */
type Unsaved = "saved" | "behind" | "changed" | "gone";

/** The state after something happened that leaves this unsaved. A failed write leaves unsaved what it wrote. */
const transitions: Readonly<Record<Exclude<Unsaved, "saved">, Readonly<Record<Unsaved, Unsaved>>>> = {
  behind: { saved: "behind", behind: "behind", changed: "changed", gone: "gone" },
  changed: { saved: "changed", behind: "changed", changed: "changed", gone: "gone" },
  gone: { saved: "gone", behind: "gone", changed: "gone", gone: "gone" },
};

interface KeptOptions {
  readonly describe: () => Partial<SavedState>;
  /** Returns its last use, on the wall clock (epoch milliseconds). Default: not kept. */
  readonly usedAt?: () => number;
  /** Throws if this server may not write. */
  readonly check?: () => void;
}

export type KeptSandbox = ReturnType<typeof keepSandbox>;

/** Keeps a sandbox in its file: a change writes all of it again, and requests are appended, which costs no more with many keys. */
export function keepSandbox(
  place: StatePlace,
  runtime: SandboxState,
  { describe, usedAt, check }: KeptOptions,
) {
  const now = nodePlatform.stopwatch;
  const file = openSandboxFile(place, check);
  let state: Unsaved = "saved";
  /** What is not in the file. */
  let requests: Exchange[] = [];
  let changes: RecordChange[] = [];
  /** When the oldest of it happened (on the stopwatch). */
  let since: number | undefined;
  let sinceWritten: number | undefined;
  let failure: unknown;
  let writing: Promise<void> | undefined;
  let following: Promise<void> | undefined;

  const write = async (what: Unsaved, exchanges: readonly Exchange[], records: readonly RecordChange[]) => {
    if (what === "gone") return file.remove();
    if (what === "changed" || !file.canAppend()) return file.replace(stateLine(describe()));
    const line = { usedAt: usedAt?.(), since: describeRequests(runtime, exchanges, records) };
    return file.append((before) => requestLine(line, before));
  };
  const mark = (what: Exclude<Unsaved, "saved">) => {
    state = transitions[what][state];
    since ??= now();
  };
  const writeUnsaved = async () => {
    if (state === "saved") return;
    const taken = { what: state, requests, changes };
    [state, requests, changes, since, sinceWritten] = ["saved", [], [], undefined, since];
    try {
      await write(taken.what, taken.requests, taken.changes);
      failure = undefined;
    } catch (error) {
      mark(taken.what);
      [requests, changes] = [
        [...taken.requests, ...requests].slice(-mostKept),
        [...taken.changes, ...changes],
      ];
      since = sinceWritten;
      failure = error;
      throw unwritableState(place.given, error);
    } finally {
      sinceWritten = undefined;
    }
  };
  const start = () => {
    writing = writeUnsaved().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  return {
    runtime,
    mark,
    addRequest(exchange: Exchange): void {
      requests.push(exchange);
      if (requests.length > mostKept) requests.shift();
      mark("behind");
    },
    addChange(change: RecordChange): void {
      changes.push(change);
      mark("behind");
    },
    /** Resolves once everything before this call is in the file. Rejects with `state_unwritable`, and leaves the file unchanged then. */
    save(): Promise<void> {
      if (writing === undefined) return start();
      // All who wait for the current write share the next one.
      following ??= writing
        .catch(() => {})
        .then(() => {
          following = undefined;
          return start();
        });
      return following;
    },
    isSaved: () => state === "saved" && writing === undefined,
    isWriting: () => writing !== undefined,
    /** Why the last write failed; `undefined` if it did not. */
    failure: () => failure,
    /** The milliseconds since the oldest request or change that is not in the file. */
    unsavedFor: () => {
      const oldest = sinceWritten ?? since;
      return oldest === undefined ? 0 : now() - oldest;
    },
    isForeign: file.isForeign,
    sizes: file.sizes,
  };
}
