const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

// What takes the room of two: the scripts of East Asia in full width, and pictures.
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uFF01-\uFF60\u3000-\u303F])/u;

/**
 * A text as lines of at most so many columns, broken between words; its own line ends stay.
 *
 * A word that is longer than a line is broken where the line ends.
 *
 * @example
 * wrap("one two three", 8); // ["one two", "three"]
 */
export function wrap(text: string, width: number): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrapLine(line, width));
}

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  return [...graphemes.segment(text)].reduce((sum, { segment }) => sum + columnsOfOne(segment), 0);
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/[ \t]+/).flatMap((one) => pieces(one, width))) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (columnsOf(longer) <= width) {
      current = longer;
    } else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}

// A word in pieces that fit into a line each.
function pieces(word: string, width: number): string[] {
  if (columnsOf(word) <= width) return [word];
  const found: string[] = [];
  let piece = "";
  let room = width;
  for (const { segment } of graphemes.segment(word)) {
    const columns = columnsOfOne(segment);
    if (columns > room) {
      found.push(piece);
      piece = "";
      room = width;
    }
    piece += segment;
    room -= columns;
  }
  return [...found, piece];
}

function columnsOfOne(segment: string): number {
  return wide.test(segment) ? 2 : 1;
}
