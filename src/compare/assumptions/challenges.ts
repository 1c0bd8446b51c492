import { headerOf } from "../response/headers.js";
import { findVaryingPositions, joinWithout, type Words } from "../response/words.js";
import type { CompletedAttempt } from "../sending/attempt.js";

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
  for (const outcome of new Set(attempts.map((attempt) => attempt.outcome))) {
    const attemptsOfOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
    const [first, ...later] = attemptsOfOutcome.map(wordsOfChallenge);
    if (first === undefined) continue;
    // A text of another length than the first one is another challenge.
    const comparable = later.filter((words) => words.length === first.length);
    for (const position of findVaryingPositions([first, ...comparable])) varying.add(position);
  }

  const challenges = new Map<CompletedAttempt, string>();
  for (const attempt of attempts) challenges.set(attempt, joinWithout(varying, wordsOfChallenge(attempt)));
  return challenges;
}

/** After and before each space, comma and quotation mark, and after `=`. */
const betweenWords = /(?<=[\s=,"])|(?=[\s,"])/;

/** The values of parameters are words: `Digest nonce="a1"` has the words `Digest`, ` `, `nonce=`, `"`, `a1` and `"`. */
function wordsOfChallenge({ response }: CompletedAttempt): Words {
  return (headerOf(response, "www-authenticate") ?? "").split(betweenWords);
}
