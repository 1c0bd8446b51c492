/** A text in its words, which make up the whole text. */
export type Words = readonly string[];

/** Names a word of a text. After one word more, each word is elsewhere: texts of other lengths have no names in common. */
export function nameOfWord(index: number, { length }: Words): string {
  return `word ${index} of ${length}`;
}

/** Returns the names of the words that these texts, all of one length, do not share. */
export function findVaryingWords(texts: readonly Words[]): string[] {
  const [first = [], ...others] = texts;
  const varying: string[] = [];
  for (const [index, word] of first.entries()) {
    if (others.some((words) => words[index] !== word)) varying.push(nameOfWord(index, first));
  }
  return varying;
}

/** Joins the words of a text, with `…` in place of each that varies. */
export function joinSharedWords(words: Words, varying: ReadonlySet<string>): string {
  let joined = "";
  for (const [index, word] of words.entries()) joined += varying.has(nameOfWord(index, words)) ? "…" : word;
  return joined;
}
