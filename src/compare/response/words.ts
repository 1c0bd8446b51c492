/** A text in its words, which make up the whole text: `No key` has the words `No`, ` ` and `key`. */
export type Words = readonly string[];

/**
 * Returns the position of a word: `word 3 of 3` for `key` in `No key`. Only words at one position are compared, so words of
 * texts of different lengths never are.
 */
export function positionOfWord(index: number, { length }: Words): string {
  return `word ${index + 1} of ${length}`;
}

/** Returns the positions where these texts, all of one length, have different words. */
export function findVaryingPositions(texts: readonly Words[]): string[] {
  const [first = [], ...others] = texts;
  const varying: string[] = [];
  for (const [index, word] of first.entries()) {
    if (others.some((words) => words[index] !== word)) varying.push(positionOfWord(index, first));
  }
  return varying;
}

/** Joins the words of a text, with `…` in place of each at these positions. */
export function joinWithout(positions: ReadonlySet<string>, words: Words): string {
  let joined = "";
  for (const [index, word] of words.entries()) {
    joined += positions.has(positionOfWord(index, words)) ? "…" : word;
  }
  return joined;
}
