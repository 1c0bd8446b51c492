import { setTimeout as sleep } from "node:timers/promises";
import { type RandomStream, randomStream } from "../../src/domain/seed.js";
import type { Figures } from "./figures.js";
import type { Product } from "./product.js";
import type { Secrets } from "./secrets.js";

/** What all workers share. */
export interface Soak {
  readonly seed: number;
  readonly figures: Figures;
  readonly secrets: Secrets;
}

/** One who does something with a product again and again. */
export interface Worker extends Soak {
  readonly product: Product;
  readonly draw: RandomStream;
  /** Aborted when the round is over. */
  readonly over: AbortSignal;
}

/** Makes a worker, which is asked again and again until the round is over; returns how to leave, if there is more to do. */
export type Work = (worker: Worker) => {
  readonly step: () => Promise<void>;
  readonly leave?: () => Promise<void> | void;
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
    // The server shares the machine with those who ask it.
    await sleep(worker.draw() % 5);
  }
  await leave?.();
}

/** A number from 0 up to, not including, `end`. */
export { below } from "../../test/support/hostile-requests.js";
