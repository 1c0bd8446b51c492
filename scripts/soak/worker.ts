import { setTimeout as sleep } from "node:timers/promises";
import { decodePrintable } from "../../src/domain/redact.js";
import { base62From, pick, type RandomStream, randomStream } from "../../src/domain/seed.js";
import type { Product } from "./product.js";

/** Counts of work and failures, by name. */
export interface Figures {
  readonly count: (name: string, by?: number) => void;
  readonly fail: (what: string, detail?: unknown) => void;
  /** Each failure with its number and its first detail. */
  readonly failures: () => readonly string[];
  /** All counts in one line. */
  readonly line: () => string;
}

export function createFigures(): Figures {
  const counts = new Map<string, number>();
  const failed = new Map<string, { times: number; first: string }>();
  return {
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    fail(what, detail = "") {
      const { times, first } = failed.get(what) ?? { times: 0, first: String(detail).slice(0, 2000) };
      failed.set(what, { times: times + 1, first });
    },
    failures: () => [...failed].map(([what, { times, first }]) => `${what} (${times} times)\n    ${first}`),
    line: () => [...counts].map(([name, count]) => `${name} ${count}`).join(", "),
  };
}

/** The full keys that were sent or made, and must not leak. */
export interface Secrets {
  readonly add: (secret: string) => void;
  /** A new key in the form of the real service's; remembered. */
  readonly invent: (draw: RandomStream) => string;
  /** Whether a text contains one of the keys, in any letter case and percent-encoding. */
  readonly isIn: (text: string) => boolean;
}

// A key is recognized by the first characters after its prefix: part of a random text tells as much as the whole.
const telling = 16;

export function createSecrets(): Secrets {
  const heads = new Set<string>();
  const add = (secret: string) => {
    const random = secret.replace(/^.*?_.*?_/, "");
    heads.add(random.slice(0, telling).toLowerCase());
  };
  const isInRun = (run: string) => {
    for (let at = 0; at + telling <= run.length; at++) {
      if (heads.has(run.slice(at, at + telling))) return true;
    }
    return false;
  };
  return {
    add,
    invent(draw) {
      const prefix = pick(draw, ["SVC_test_", "SVC_live_", "legacysvc_test_", "legacysvc_live_"]);
      const secret = `${prefix}${base62From(draw, 32)}`;
      add(secret);
      return secret;
    },
    isIn(text) {
      const spelled = text.includes("%") ? `${text}\n${decodePrintable(text)}` : text;
      return (spelled.toLowerCase().match(/[a-z0-9]{16,}/g) ?? []).some(isInRun);
    },
  };
}

/** Shared by all workers. */
export interface Soak {
  readonly seed: number;
  readonly figures: Figures;
  readonly secrets: Secrets;
}

/** Repeats one kind of work on a product. */
export interface Worker extends Soak {
  readonly product: Product;
  readonly draw: RandomStream;
  /** Aborted at the end of the round. */
  readonly over: AbortSignal;
}

/** Makes a worker: its step is repeated until the round is over, then it leaves. */
export type Work = (worker: Worker) => {
  readonly step: () => Promise<unknown>;
  readonly leave?: () => void;
};

/** Lets a worker work until the round is over. A step that throws is a failure of the product. */
export async function work(
  name: string,
  make: Work,
  soak: Soak,
  product: Product,
  over: AbortSignal,
): Promise<void> {
  const worker = { ...soak, product, over, draw: randomStream(soak.seed, "soak", product.name, name) };
  const { step, leave } = make(worker);
  const what = name.replace(/ \d+$/, "");
  while (!over.aborted && product.isRunning()) {
    await step().catch((error) =>
      soak.figures.fail(`${product.name}: ${what}: ${error.message}`, error.cause ?? ""),
    );
    // The server shares the machine with its clients.
    await sleep(worker.draw() % 5);
  }
  leave?.();
}

/** Waits so many milliseconds, or until the round is over. */
export async function pause({ over }: Pick<Worker, "over">, milliseconds: number): Promise<void> {
  await sleep(milliseconds, undefined, { signal: over }).catch(() => {});
}

/** A number from 0 up to, not including, `end`. */
export { below } from "../../test/support/hostile-requests.js";
