import { revision } from "./call.js";
import { follow } from "./data.js";
import type { Clock } from "./responses.js";
import { Shared } from "./shared.js";

/** The time of the sandbox's clock in epoch milliseconds, updated every second while the sandbox responds. */
export const now = new Shared(Number.NaN);

/** The clock as it was read last; `undefined` while it is unknown. */
let clock: Clock | undefined;
/** When it was read, on the page's own clock. */
let readAt = 0;

function tick(): void {
  // The time of a sandbox that does not respond is unknown.
  if (clock === undefined || revision.value === undefined) return;
  now.value = Date.parse(clock.now) + (clock.frozen ? 0 : performance.now() - readAt);
}

follow("/clock", ({ data }) => {
  clock = data;
  readAt = performance.now();
  tick();
});
setInterval(tick, 1000);
