import { mix32 } from "../rules/seed.js";
import type { ActiveFault } from "./active-faults.js";

/** No delay is longer than this many times its `p99`, so that no test waits for one in a billion. */
const maxTimesP99 = 10;

/** The latency of a fault on one request, in milliseconds. */
export function drawLatency({ effect, salts }: ActiveFault, requestNumber: number): number {
  const { latency } = effect;
  if (latency === undefined) return 0;
  const chance = chanceFrom(salts.latency, requestNumber);
  if ("min" in latency) {
    const choices = latency.max - latency.min + 1;
    return latency.min + Math.floor(chance * choices);
  }
  return longTailedDelay(latency, chance);
}

/** A delay in milliseconds, by a chance from 0 to less than 1: half of the delays are below `median`, 99% below `p99`, some far above. */
function longTailedDelay(
  { median, p99 }: { readonly median: number; readonly p99: number },
  chance: number,
): number {
  if (median === 0) return 0;
  // A log-logistic distribution. The odds are 1 in the middle, where the delay is `median`, and 99 where it is `p99`.
  const odds = chance / (1 - chance);
  const exponent = Math.log(p99 / median) / Math.log(99);
  const delay = median * odds ** exponent;
  return Math.min(Math.round(delay), maxTimesP99 * p99);
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
export function chanceFrom(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}
