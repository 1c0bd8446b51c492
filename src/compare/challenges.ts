import type { CompletedAttempt } from "./attempt.js";
import { headerOf } from "./response.js";

/**
 * Returns what stays of the challenge of a 401, with `…` for words that two responses to one cause do not share, such as
 * a nonce: it is shown once, and not with each nonce.
 */
export function staysOfChallenges(
  attempts: readonly CompletedAttempt[],
): (attempt: CompletedAttempt) => string {
  const firsts = new Map<string, readonly string[]>();
  const varying = new Set<string>();
  for (const { outcome, response } of attempts) {
    const words = wordsOf(response);
    const first = firsts.get(outcome);
    if (first === undefined) firsts.set(outcome, words);
    else if (first.length === words.length)
      for (const [index, word] of words.entries())
        if (word !== first[index]) varying.add(nameOfWord(index, words));
  }
  return ({ response }) => {
    const words = wordsOf(response);
    return words.map((word, index) => (varying.has(nameOfWord(index, words)) ? "…" : word)).join("");
  };
}

function nameOfWord(index: number, words: readonly string[]): string {
  return `word ${index} of ${words.length}`;
}

/** The values of parameters, and what is between them. */
function wordsOf(response: CompletedAttempt["response"]): string[] {
  return (headerOf(response, "www-authenticate") ?? "").split(/(?<=[\s=,"])|(?=[\s,"])/);
}
