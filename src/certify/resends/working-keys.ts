import { isSuccess } from "../../rules/outcomes.js";
import type { Runs } from "../client-runs/runs.js";
import type { WorkingKey } from "./replaced-run.js";

/** The keys that the plain run accepted each time, the default key first. With `--allow 200.test`, the client survives a 401 in place of that success: its keys are left out. */
export function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): WorkingKey[] {
  const keys: WorkingKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sentKeys) {
    const isAlwaysAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || !isAlwaysAccepted) continue;

    // A run that replaces a response counts all requests: it cannot know which response the client will not read.
    const numbersOfReadRequests: number[] = [];
    for (const [index, { isUnread }] of requests.entries()) {
      if (!isUnread) numbersOfReadRequests.push(index + 1);
    }
    const key = { ref, numbersOfReadRequests };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}
