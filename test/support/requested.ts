import { stateOf } from "../../src/library/sandbox-api.js";

/** Resolves once a sandbox has got so many requests. */
export function requested(sandbox: Parameters<typeof stateOf>[0], count = 1): Promise<void> {
  const { journal } = stateOf(sandbox);
  return new Promise((resolve) => {
    const look = () => {
      if (sandbox.requests.total() < count) return;
      stop();
      resolve();
    };
    const stop = journal.subscribe(look);
    look();
  });
}
