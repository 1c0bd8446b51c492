import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, parseApiKey } from "../domain/api-key.js";
import type { PathId } from "../domain/outcomes.js";
import type { RequestSigns } from "../domain/request-signs.js";
import { isHeard, rememberHeard } from "./conduct-memory.js";
import { adviceOnSigns } from "./conduct-signs.js";
import type { KeyEntry, Registry } from "./registry.js";
import { createRejected, type Rejected } from "./rejected.js";
import type { Windows } from "./usage.js";

/** What is remembered of a world's clients, so that one request can be judged by those before it. */
export interface Conduct {
  /** The keys that nobody here holds and that were rejected. */
  readonly rejected: Rejected;
}

/** Makes the memory of a world that nobody has called yet. */
export function createConduct(): Conduct {
  return { rejected: createRejected() };
}

/** A request and how it ended, as far as conduct goes. */
export interface Sending {
  readonly apiKey: string | undefined;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
  readonly signs: RequestSigns;
  /** Whether the API does not have its path, or not with its method. */
  readonly misdirected: boolean;
  /** On the sandbox's clock. */
  readonly now: number;
  /** When it came and when its client can have had the answer, on the stopwatch. */
  readonly started: number;
  readonly answered: number;
  /** That of a fault where one has spoilt the answer. */
  readonly pathId: PathId;
}

/** What is said of a request that there is nothing to say about. */
export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/**
 * Judges a request by what its client could know when it sent it, and remembers what the client learns from the answer.
 *
 * An answer that a fault has spoilt teaches nothing: to send the request again is right then.
 */
export function judge(
  conduct: Conduct,
  { registry, windows }: { readonly registry: Registry; readonly windows: Windows },
  sending: Sending,
): readonly AdviceId[] {
  const { signs, pathId, entry } = sending;
  const isPlain = signs === 0 && (pathId === "200.test" || pathId === "200.live");
  // Nearly every request that is let in.
  if (isPlain && entry?.conduct === undefined && entry?.key.replaces === undefined) return noAdvice;
  const advice = adviceOnSigns(sending);
  if (entry === undefined) judgeStranger(conduct.rejected, sending, advice);
  else judgeKey(registry, entry, sending, advice);
  learn(conduct, windows, sending);
  return advice.length === 0 ? noAdvice : Object.freeze(advice);
}

function judgeStranger(rejected: Rejected, sending: Sending, advice: AdviceId[]): void {
  const { apiKey, sha256, started } = sending;
  if (apiKey === undefined) return;
  if (parseApiKey(apiKey)?.marked === false) advice.push("real-key-suspected");
  if (isHeard(rejected.heardAt(fingerprintOf(sha256)), started)) advice.push("same-key-after-401");
}

function judgeKey(registry: Registry, entry: KeyEntry, sending: Sending, advice: AdviceId[]): void {
  const { pathId, now, started } = sending;
  const { rejectedAt, limit } = entry.conduct ?? {};
  if (isHeard(rejectedAt, started)) advice.push("same-key-after-401");
  // One that is let in has waited for long enough.
  const isAdmitted = pathId.startsWith("200");
  if (!isAdmitted && limit !== undefined && now < limit.until && isHeard(limit.heardAt, started)) {
    advice.push("too-soon-after-429");
  }
  if (replacementSeen(registry, entry, started)) advice.push("old-key-after-replacement-seen");
  else if (pathId === "200.retiring") advice.push("retiring-key-in-use");
  if (pathId === "200.legacy") advice.push("legacy-key-in-use");
}

// The replacement may have been replaced in its turn.
function replacementSeen({ keys }: Registry, { key }: KeyEntry, started: number): boolean {
  for (let ref = key.replacedBy; ref !== undefined; ) {
    const next = keys.get(ref);
    if (isHeard(next?.conduct?.workedAt, started)) return true;
    ref = next?.key.replacedBy;
  }
  return false;
}

function learn({ rejected }: Conduct, windows: Windows, sending: Sending): void {
  const { apiKey, sha256, entry, pathId, now, answered } = sending;
  if (entry !== undefined) {
    const heard = rememberHeard(entry, windows, { pathId, now, answered });
    if (heard !== undefined) entry.conduct = heard;
  } else if (apiKey !== undefined && pathId.startsWith("401")) {
    rejected.remember(fingerprintOf(sha256), answered);
  }
}
