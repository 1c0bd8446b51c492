import { minute, minuteStart } from "../domain/limits.js";
import type { PathId } from "../domain/outcomes.js";
import { type Heard, isNews, unheard } from "./conduct-heard.js";
import type { KeyEntry } from "./registry.js";
import type { Usage, Windows } from "./usage.js";

/** What the clients that hold a key have learned from its answers. */
export interface KeyConduct {
  /** That it was rejected. */
  readonly rejected?: Heard;
  /** That its limit was used up, and until when (on the sandbox's clock) the latest such answer told to wait. */
  readonly limit?: { readonly heard: Heard; readonly until: number };
  /** That it works, if it has replaced another key. */
  readonly worked?: Heard;
}

/** The limit whose end a 429 names; `undefined` when it names none. */
export type ToldLimit = "minute" | "day" | undefined;

/** What the client of a key learns from an answer; `undefined` when that is nothing, or nothing new. */
export function learnOfKey(
  entry: KeyEntry,
  windows: Windows,
  { pathId, now, told }: { readonly pathId: PathId; readonly now: number; readonly told: ToldLimit },
): Heard | undefined {
  const { key, conduct } = entry;
  if (pathId.startsWith("429")) {
    const until = waitUntil(entry.usage, windows, now, told);
    const heard = conduct?.limit?.until === until ? conduct.limit.heard : unheard();
    entry.conduct = { ...conduct, limit: { heard, until } };
    return heard;
  }
  if (pathId.startsWith("401")) {
    const rejected = conduct?.rejected ?? unheard();
    entry.conduct = { ...conduct, rejected };
    return rejected;
  }
  if (key.replaces !== undefined && pathId.startsWith("200")) {
    const worked = conduct?.worked ?? unheard();
    // All that matters is that it works; who has heard so first is enough.
    if (!isNews(worked)) return undefined;
    entry.conduct = { ...conduct, worked };
    return worked;
  }
  return undefined;
}

// An answer that tells nothing may be about the minute, whose turn is all that a client can wait for. Not what the
// answer says in seconds, but what it means: so answers to requests at the same time say the same.
function waitUntil(usage: Usage, { sliding }: Windows, now: number, told: ToldLimit): number {
  if (told === "day") return usage.dayEndsAt;
  if (!sliding) return usage.minuteEndsAt;
  // In a sliding minute there is more as soon as its oldest request is a minute old.
  const moreAt = (usage.recent[0] ?? now) + minute;
  return told === "minute" ? moreAt : Math.min(moreAt, minuteStart(now) + minute);
}
