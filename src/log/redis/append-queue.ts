import type { SandboxError } from "../../domain/errors.js";
import { clearTimeout, nodePlatform, setImmediate, setTimeout } from "../../node/platform.js";

/** An append that waits for its outcome. */
interface Append {
  readonly text: string;
  readonly deadline: number;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: SandboxError) => void;
}

/** Appends that are sent together, under a number by which the store knows them when they are sent again. */
interface Batch {
  readonly number: number;
  readonly texts: readonly string[];
  readonly resolve: (index: number, outcome: unknown) => void;
}

/** The most texts, and about how many characters, one batch has. */
const mostTexts = 500;
const mostCharacters = 500_000;

/**
 * Makes a queue of the appends of a replica, in order: those under way, which are one batch at most, and those that wait
 * behind it. `timeout`: how many milliseconds an append waits.
 */
export function createAppendQueue(timeout: number, expired: () => SandboxError) {
  const now = nodePlatform.stopwatch;
  const isOver = (time: number) => (append: Append) => append.deadline <= time;
  let waiting: Append[] = [];
  let sent: readonly Append[] = [];
  let batch: Batch | undefined;
  let batches = 0;
  let timer: NodeJS.Timeout | undefined;

  // All wait equally long: the first to come is the first to expire.
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
    // A process that was paused reads first what has come meanwhile.
    timer ??= setTimeout(() => setImmediate(expire), Math.ceil(left));
  };
  const take = (): readonly Append[] => {
    let characters = 0;
    const end = waiting.findIndex(({ text }, index) => {
      characters += text.length;
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
  const refuseUnderWay = (error: SandboxError) => {
    const refused = sent;
    done();
    for (const append of refused) append.reject(error);
  };

  return {
    /** Resolves to the outcome; rejects with the error of `refuse…`, or of `expired` when there is none in time. */
    push: (text: string) =>
      new Promise<unknown>((resolve, reject) => {
        waiting.push({ text, deadline: now() + timeout, resolve, reject });
        watch(timeout);
      }),
    /** The batch to send: the one under way again while somebody waits for it, else the next; `undefined`: there is none. */
    next(): Batch | undefined {
      if (sent.every(isOver(now()))) done();
      if (batch !== undefined || waiting.length === 0) return batch;
      const taken = take();
      sent = taken;
      batches += 1;
      batch = {
        number: batches,
        texts: taken.map(({ text }) => text),
        resolve: (index, outcome) => taken[index]?.resolve(outcome),
      };
      return batch;
    },
    /** Whether there is something to send. */
    isWaiting: () => batch !== undefined || waiting.length > 0,
    underWay: () => batch,
    /** The outcomes of the batch under way are all known. */
    done,
    refuseUnderWay,
    refuseAll(error: SandboxError): void {
      const refused = waiting;
      waiting = [];
      refuseUnderWay(error);
      for (const append of refused) append.reject(error);
    },
    /** Resolves all to one outcome. */
    resolveAll(outcome: unknown): void {
      const all = [...sent, ...waiting];
      waiting = [];
      done();
      for (const append of all) append.resolve(outcome);
    },
  };
}
