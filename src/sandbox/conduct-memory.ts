import type { PathId } from "../domain/outcomes.js";
import { minute } from "../domain/windows.js";
import type { KeyEntry } from "./registry.js";
import type { Windows } from "./usage.js";

/** What the clients that hold a key have learned from its answers. Instants are on the stopwatch unless said otherwise. */
export interface KeyConduct {
  /** When its first 401 had come. */
  readonly rejectedAt?: number;
  /** The latest 429, and until when (on the sandbox's clock) the limit that refused is used up. */
  readonly limit?: { readonly heardAt: number; readonly until: number };
  /** When the first answer that let it in had come, if it has replaced another key. */
  readonly workedAt?: number;
}

/** Whether what was heard at an instant was known to the client of a request that began at another. */
export function isHeard(heardAt: number | undefined, started: number): boolean {
  return heardAt !== undefined && heardAt <= started;
}

/** What is known of a key's clients after an answer; `undefined` when that is what was known before. */
export function rememberHeard(
  { key, conduct, usage }: KeyEntry,
  { sliding }: Windows,
  { pathId, now, answered }: { readonly pathId: PathId; readonly now: number; readonly answered: number },
): KeyConduct | undefined {
  if (pathId === "429.per_minute") {
    // As a Retry-After would say: in a sliding minute there is more as soon as its oldest request is a minute old.
    return limitedUntil(conduct, sliding ? (usage.recent[0] ?? now) + minute : usage.minuteEndsAt, answered);
  }
  if (pathId === "429.per_day") return limitedUntil(conduct, usage.dayEndsAt, answered);
  if (pathId.startsWith("401") && !isHeard(conduct?.rejectedAt, answered)) {
    return { ...conduct, rejectedAt: answered };
  }
  if (key.replaces !== undefined && pathId.startsWith("200") && !isHeard(conduct?.workedAt, answered)) {
    return { ...conduct, workedAt: answered };
  }
  return undefined;
}

// An answer that had to wait must not make the client forget what it has heard of the same limit already.
function limitedUntil(conduct: KeyConduct | undefined, until: number, answered: number): KeyConduct {
  const earlier = conduct?.limit?.until === until ? conduct.limit.heardAt : answered;
  return { ...conduct, limit: { heardAt: Math.min(earlier, answered), until } };
}
