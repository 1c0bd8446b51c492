import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, parseApiKey } from "../domain/api-key.js";
import { type KeyRecord, keyStateAt } from "../domain/key.js";
import type { PathId } from "../domain/outcomes.js";
import type { RequestTraits } from "../domain/request-traits.js";
import { type Heard, isHeard, type Line } from "./conduct-heard.js";
import { learnOfKey, type ToldLimit } from "./conduct-memory.js";
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
  readonly signs: RequestTraits;
  /** Whether a key that may be a real one stood somewhere else than in the header, or not alone in it. */
  readonly hasRealKey: boolean;
  /** Whether the API does not have its path, or not with its method. */
  readonly misdirected: boolean;
  /** On the sandbox's clock. */
  readonly now: number;
  /** When it came, on the stopwatch, and on what. */
  readonly started: number;
  readonly line: Line | undefined;
  /** That of a fault where one has spoilt the answer. */
  readonly pathId: PathId;
  /** What a 429 says of the end of a limit. */
  readonly told: ToldLimit;
}

/** What is said of a request that there is nothing to say about. */
export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/** Whether there is nothing to say of a request and nothing to learn from its answer: nearly every one that is let in. */
export function isPlain({ signs, pathId, entry, hasRealKey }: Sending): boolean {
  return (
    signs === 0 &&
    (pathId === "200.test" || pathId === "200.live") &&
    entry?.conduct === undefined &&
    entry?.key.replaces === undefined &&
    !hasRealKey
  );
}

/** Judges a request by what its client could know when it sent it. */
export function judge(conduct: Conduct, registry: Registry, sending: Sending): readonly AdviceId[] {
  const { entry, apiKey } = sending;
  const advice = adviceOnSigns(sending);
  const isReal = entry === undefined && apiKey !== undefined && parseApiKey(apiKey)?.marked === false;
  if (isReal || sending.hasRealKey) advice.push("real-key-suspected");
  if (entry !== undefined) judgeKey(registry, entry, sending, advice);
  else if (apiKey !== undefined && isHeard(conduct.rejected.find(fingerprintOf(sending.sha256)), sending)) {
    advice.push("same-key-after-401");
  }
  return advice.length === 0 ? noAdvice : Object.freeze(advice);
}

/**
 * Remembers what the client learns from the answer, and answers that, so that it can be said when it has heard of it;
 * `undefined` when it learns nothing.
 *
 * An answer that a fault has spoilt teaches nothing: to send the request again is right then.
 */
export function learn({ rejected }: Conduct, windows: Windows, sending: Sending): Heard | undefined {
  const { apiKey, sha256, entry, pathId } = sending;
  if (entry !== undefined) return learnOfKey(entry, windows, sending);
  if (apiKey === undefined || !pathId.startsWith("401")) return undefined;
  return rejected.remember(fingerprintOf(sha256));
}

function judgeKey(registry: Registry, entry: KeyEntry, sending: Sending, advice: AdviceId[]): void {
  const { pathId, now } = sending;
  const { rejected, limit } = entry.conduct ?? {};
  if (isHeard(rejected, sending)) advice.push("same-key-after-401");
  // One that is let in has waited for long enough.
  const isAdmitted = pathId.startsWith("200");
  if (!isAdmitted && limit !== undefined && now < limit.until && isHeard(limit.heard, sending)) {
    advice.push("too-soon-after-429");
  }
  if (replacementSeen(registry, entry, sending)) advice.push("old-key-after-replacement-seen");
  else if (pathId === "200.retiring") advice.push("retiring-key-in-use");
  if (pathId === "200.legacy") advice.push("legacy-key-in-use");
}

// The replacement may have been replaced in its turn. To one that works no more nobody can change over.
function replacementSeen({ keys }: Registry, { key }: KeyEntry, sending: Sending): boolean {
  for (let ref = key.replacedBy; ref !== undefined; ) {
    const next = keys.get(ref);
    if (next !== undefined && works(next.key, sending.now) && isHeard(next.conduct?.worked, sending))
      return true;
    ref = next?.key.replacedBy;
  }
  return false;
}

function works(key: KeyRecord, now: number): boolean {
  const state = keyStateAt(key, now);
  return state === "active" || state === "retiring";
}
