import type { ListedKey, ShownFault } from "../control/responses.js";
import { percentText } from "./text.js";

/** How many of the next requests with a key get a fault: `30% get a fault`; `undefined` for none. */
export function faultsInWords(
  key: ListedKey,
  faults: readonly ShownFault[],
  now: number,
): string | undefined {
  let shareWithoutFault = 1;
  let hitsSome = false;
  for (const fault of faults) {
    const { when = {}, requests_matched: matched = 0 } = fault;
    if (!matchesNextRequest(key, when, now)) continue;

    const { requests, every = 1, probability = 1 } = when;
    if (requests === undefined) shareWithoutFault *= 1 - probability / every;
    // The numbers of the requests that it hits, counted from its first match.
    else if (requests.some((nth) => nth > matched)) hitsSome = true;
  }
  if (shareWithoutFault === 0) return "all get a fault";
  if (hitsSome) return "some get a fault";
  if (shareWithoutFault === 1) return undefined;
  return `${percentText(1 - shareWithoutFault)} get a fault`;
}

/** Whether the condition of a fault now matches the next request with a key. */
function matchesNextRequest(key: ListedKey, when: NonNullable<ShownFault["when"]>, now: number): boolean {
  if (when.key !== undefined && when.key !== key.ref) return false;
  if (when.organization !== undefined && when.organization !== key.organization) return false;
  if (when.outcome !== undefined && when.outcome !== key.next_request.outcome) return false;
  if (when.after !== undefined && now < Date.parse(when.after)) return false;
  return when.until === undefined || now < Date.parse(when.until);
}
