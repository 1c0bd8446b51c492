import { keyStateAt, keyStateTable } from "../rules/key-state.js";
import type { ApiOutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { RoutedCall } from "../sandbox/api-call.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { publicCause } from "./authorize.js";
import { authorizationFacts } from "./decide.js";
import { limitUses } from "./limits.js";

/** Why a request is rejected, with facts of its key. */
export interface RejectionReason {
  /** `expired since 2026-03-01T09:00:00Z`; `null` on success, and if its outcome says all, as that of an unknown key does. */
  readonly why: string | null;
  /** When a 429 ends, in ISO 8601; `null` for anything else, and if it does not end while the key works. */
  readonly until: string | null;
}

const noReason: RejectionReason = { why: null, until: null };

/** Why a call has this outcome: a reached limit, the end of its key, or the cause of a 403. Only the facts of a key give a reason. */
export function rejectionReason(
  sandbox: SandboxState,
  call: RoutedCall,
  outcome: ApiOutcomeId,
): RejectionReason {
  const { entry, now } = call;
  if (entry === undefined) return noReason;
  if (outcome === "429.per_minute") return reasonOfLimit(sandbox, entry, now, "minute");
  if (outcome === "429.per_day") return reasonOfLimit(sandbox, entry, now, "day");

  // A 401 of a key that has ended. `endField` is the name of the key's member with the time of its end: `revokedAt`.
  const state = keyStateAt(entry.key, now);
  const { rejection, endField } = keyStateTable[state];
  const isBecauseOfState = endField !== null && rejection === outcome;
  if (isBecauseOfState) {
    const endedAt = entry.key[endField] ?? now;
    return { why: `${state} since ${shortIso(endedAt)}`, until: null };
  }

  // A 403 has a cause that may be shown; any other rejection has none.
  const facts = authorizationFacts(sandbox, call);
  return { why: publicCause(outcome, facts)?.why ?? null, until: null };
}

/** Why a key gets a 429, which lasts until its limit resets, or as long as the key works. */
function reasonOfLimit(
  sandbox: SandboxState,
  entry: KeyEntry,
  now: number,
  name: "minute" | "day",
): RejectionReason {
  const { quota, resetsAt } = limitUses(entry, sandbox, now)[name];
  if (quota === 0) return { why: `always: allows 0 requests a ${name}`, until: null };

  // The key may have ended by then.
  const stateAtReset = keyStateAt(entry.key, resetsAt);
  if (stateAtReset === "rotated") return { why: "the key's overlap ends first", until: null };
  if (keyStateTable[stateAtReset].isOver) return { why: "the key expires first", until: null };
  return { why: untilInWords(resetsAt, now), until: isoTime(resetsAt) };
}

/** `until 09:01:00`, with the date if it is another day. Rounded up: a request before the limit resets would be rejected again. */
function untilInWords(instant: number, now: number): string {
  const end = shortIso(Math.ceil(instant / 1000) * 1000);
  const startOfToday = shortIso(now).slice(0, "2026-03-01T".length);
  if (end.startsWith(startOfToday)) return `until ${end.slice(startOfToday.length, -1)}`;
  return `until ${end}`;
}

/** ISO 8601 without milliseconds. */
function shortIso(instant: number): string {
  return isoTime(instant).replace(/(?:\.\d+)?Z$/, "Z");
}
