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
  const wordsByAttempt = new Map<CompletedAttempt, Words>();
  const textsByOutcome = new Map<string, Words[]>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt.response);
    wordsByAttempt.set(attempt, words);
    const texts = textsByOutcome.get(attempt.outcome) ?? [];
    textsByOutcome.set(attempt.outcome, texts);
    // A text of another length than the first one is another challenge.
    if (texts[0] === undefined || texts[0].length === words.length) texts.push(words);
  }

  const varying = new Set<string>();
  for (const texts of textsByOutcome.values()) for (const name of findVaryingWords(texts)) varying.add(name);

  const challenges = new Map<CompletedAttempt, string>();
  for (const [attempt, words] of wordsByAttempt) challenges.set(attempt, joinSharedWords(words, varying));
  return challenges;
}

/** The values of parameters are words, and so is what is between them. */
function wordsOfChallenge(response: CompletedAttempt["response"]): Words {
  return (headerOf(response, "www-authenticate") ?? "").split(/(?<=[\s=,"])|(?=[\s,"])/);
}
