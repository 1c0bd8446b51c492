import { mix32 } from "../rules/seed.js";
import type { ActiveFault } from "./active-faults.js";

/** In the standard normal distribution, with a deviation of 1, 99% of the values are below this one. */
const normalP99 = 2.326;

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
  return lognormalDelay(latency, chance, chanceFrom(salts.secondLatency, requestNumber));
}

/** A delay in milliseconds from a lognormal distribution, as delays of services have, by two chances. */
function lognormalDelay(
  { median, p99 }: { readonly median: number; readonly p99: number },
  chance: number,
  secondChance: number,
): number {
  if (median === 0) return 0;
  // By the method of Box and Muller, two chances make a value of the standard normal distribution: 0 in the middle.
  const normal = Math.sqrt(-2 * Math.log(1 - chance)) * Math.cos(2 * Math.PI * secondChance);
  // 0 becomes the median, and `normalP99` becomes `p99`.
  const delay = median * (p99 / median) ** (normal / normalP99);
  return Math.min(Math.round(delay), maxTimesP99 * p99);
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
export function chanceFrom(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}
