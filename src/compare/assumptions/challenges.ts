import { headerOf } from "../response/headers.js";
import type { CompletedAttempt } from "../sending/attempt.js";

/** After and before each space, comma and quotation mark, and after `=`: `nonce="a1"` has `nonce=`, `"`, `a1` and `"`. */
const betweenWords = /(?<=[\s=,"])|(?=[\s,"])/;

/**
 * Returns the challenge of each response, empty without one. Words that two responses to one cause do not share, such as a
 * nonce, are `…`: so the report shows a challenge once, and not with each nonce.
 */
export function stableChallenges(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, string> {
  // A word that varies for one cause is `…` for all: if a nonce is only drawn anew for unknown keys, the challenges of all
  // causes can still be equal.
  const varying = new Set<string>();
  const firstByOutcome = new Map<string, readonly string[]>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const first = firstByOutcome.get(attempt.outcome) ?? words;
    firstByOutcome.set(attempt.outcome, first);
    // A text of another length than the first one is another challenge.
    if (words.length !== first.length) continue;
    for (const [index, word] of words.entries()) {
      if (word !== first[index]) varying.add(`${index} of ${words.length}`);
    }
  }

  const challenges = new Map<CompletedAttempt, string>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const stable = words.map((word, index) => (varying.has(`${index} of ${words.length}`) ? "…" : word));
    challenges.set(attempt, stable.join(""));
  }
  return challenges;
}

function wordsOfChallenge({ response }: CompletedAttempt): readonly string[] {
  return (headerOf(response, "www-authenticate") ?? "").split(betweenWords);
}
