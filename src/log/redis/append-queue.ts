import type { SandboxError } from "../../domain/errors.js";
import { clearTimeout, nodePlatform, setImmediate, setTimeout } from "../../node/platform.js";

/** An append in progress; without a text, it only waits for the entries before it. */
interface Append {
  readonly text: string | undefined;
  readonly deadline: number;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: SandboxError) => void;
}

/** Appends that are sent together. The store recognizes their number if they are sent again. */
interface Batch {
  readonly number: number;
  readonly texts: readonly string[];
  readonly resolve: (index: number, outcome: unknown) => void;
}

/** The maximum number of texts, and about of characters, in one batch. */
const mostTexts = 500;
const mostCharacters = 500_000;

/**
 * Creates the ordered queue of a replica's appends: at most one batch in progress, and appends that wait for their turn. An
 * append waits at most `timeout` milliseconds.
 */
export function createAppendQueue(timeout: number, expired: () => SandboxError) {
  const now = nodePlatform.stopwatch;
  const isOver = (time: number) => (append: Append) => append.deadline <= time;
  let waiting: Append[] = [];
  let sent: readonly Append[] = [];
  let batch: Batch | undefined;
  let batches = 0;
  let timer: NodeJS.Timeout | undefined;

  // All have the same timeout: the oldest expires first.
  const expire = () => {
    timer = undefined;
    const time = now();
    const error = expired();
    for (const append of [...sent, ...waiting].filter(isOver(time))) append.reject(error);
    waiting = waiting.filter((append) => !isOver(time)(append));
    const next = [...sent, ...waiting].find((append) => !isOver(time)(append));
    if (next !== undefined) watch(next.deadline - time);
  };
  const watch = (left: number) => {
    // A paused process first reads what arrived during the pause.
    timer ??= setTimeout(() => setImmediate(expire), Math.ceil(left));
  };
  const take = (): readonly Append[] => {
    let characters = 0;
    const end = waiting.findIndex(({ text }, index) => {
      characters += text?.length ?? 0;
      return index === mostTexts || (index > 0 && characters > mostCharacters);
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };
  const done = () => {
    batch = undefined;
    sent = [];
    if (waiting.length > 0) return;
    clearTimeout(timer);
    timer = undefined;
  };
  const complete = () => {
    for (const append of sent) append.resolve(undefined);
    done();
  };
  const refuseUnderWay = (error: SandboxError) => {
    const refused = sent;
    done();
    for (const append of refused) append.reject(error);
  };

  return {
    /** Resolves to the outcome; rejects with the error of `refuse…`, or of `expired` after the timeout. */
    push: (text: string | undefined) =>
      new Promise<unknown>((resolve, reject) => {
        waiting.push({ text, deadline: now() + timeout, resolve, reject });
        watch(timeout);
      }),
    /** Returns the batch to send: the one in progress while a caller waits for it, or the next one, if any. */
    next(): Batch | undefined {
      if (sent.every(isOver(now()))) done();
      if (batch !== undefined || waiting.length === 0) return batch;
      const taken = take();
      sent = taken;
      batches += 1;
      const entries = taken.filter(({ text }) => text !== undefined);
      batch = {
        number: batches,
        texts: entries.map(({ text }) => text as string),
        resolve: (index, outcome) => entries[index]?.resolve(outcome),
      };
      return batch;
    },
    /** Whether there is something to send. */
    isWaiting: () => batch !== undefined || waiting.length > 0,
    underWay: () => batch,
    /** Completes the batch in progress, after the outcomes of its entries. */
    complete,
    /** Completes the batch in progress if it has no entries. */
    completeSyncs(): void {
      if (batch?.texts.length === 0) complete();
    },
    refuseUnderWay,
    refuseAll(error: SandboxError): void {
      const refused = waiting;
      waiting = [];
      refuseUnderWay(error);
      for (const append of refused) append.reject(error);
    },
    /** Resolves all appends to one outcome. */
    resolveAll(outcome: unknown): void {
      const all = [...sent, ...waiting];
      waiting = [];
      done();
      for (const append of all) append.resolve(outcome);
    },
  };
}
