import { runtimeOf } from "../../src/library/create-sandbox.js";

/** Resolves once a sandbox has got so many requests. */
export function requested(sandbox: Parameters<typeof runtimeOf>[0], count = 1): Promise<void> {
  const { subscribe } = runtimeOf(sandbox).history;
  return new Promise((resolve) => {
    const look = () => {
      if (sandbox.requests.total() < count) return;
      stop();
      resolve();
    };
    const stop = subscribe(look);
    look();
  });
}
