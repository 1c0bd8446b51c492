import { headerOf } from "../response/headers.js";
import { findVaryingWords, joinSharedWords, type Words } from "../response/words.js";
import type { CompletedAttempt } from "../sending/attempt.js";

/**
 * Returns the challenge of each response, empty without one. Words that two responses to one cause do not share, such as a
 * nonce, are `…`: so the report shows a challenge once, and not with each nonce.
 */
export function stableChallenges(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, string> {
  const varying = findVaryingNames(attempts);
  const challenges = new Map<CompletedAttempt, string>();
  for (const attempt of attempts) {
    challenges.set(attempt, joinSharedWords(wordsOfChallenge(attempt), varying));
  }
  return challenges;
}

/** Returns the names of the words that two responses to one cause do not share. */
function findVaryingNames(attempts: readonly CompletedAttempt[]): Set<string> {
  const challengesByOutcome = new Map<string, Words[]>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const ofOutcome = challengesByOutcome.get(attempt.outcome) ?? [];
    challengesByOutcome.set(attempt.outcome, ofOutcome);
    // A text of another length than the first one is another challenge.
    const [first = words] = ofOutcome;
    if (first.length === words.length) ofOutcome.push(words);
  }

  const varying = new Set<string>();
  for (const challenges of challengesByOutcome.values()) {
    for (const name of findVaryingWords(challenges)) varying.add(name);
  }
  return varying;
}

/**
 * Splits at spaces, commas, quotation marks, and after `=`, so that the values of parameters are words: `Digest nonce="a1"` has
 * the words `Digest`, ` `, `nonce=`, `"`, `a1` and `"`.
 */
function wordsOfChallenge({ response }: CompletedAttempt): Words {
  return (headerOf(response, "www-authenticate") ?? "").split(/(?<=[\s=,"])|(?=[\s,"])/);
}
