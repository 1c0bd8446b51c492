import { eastAsianWidth } from "get-east-asian-width";
import { unicodePattern } from "../schema/words.js";

// What a reader calls a character may be several of Unicode: a flag, a family, a letter with its accents.

/** A color with its escape character, such as `\x1B[31m`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const color = /(\x1B\[\d{1,2}m)/g;

let segmenter: Intl.Segmenter | undefined;

/** What a reader calls characters. V8 loads its tables at the first call, which takes 20 ms. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en");
  return segmenter.segment(text);
}

/** A flag, a digit on a key, or an emoji of several parts. */
const composedEmoji = unicodePattern(
  "\\p{RI}{2}|[\\uFE0F\\u20E3\\u200D]|\\p{EMod}|[\\u{E0020}-\\u{E007F}]",
  "u",
);
/** Any character but those without a column: what is invisible by default, controls, formats such as joiners, accents, half pairs. */
const visibleCharacter = unicodePattern("[^\\p{DI}\\p{Cc}\\p{Cf}\\p{Mn}\\p{Me}\\p{Cs}]", "u");

/** Returns the columns of a text in a terminal: a color has none, a Chinese letter or a family two. */
export function textWidth(text: string): number {
  const plain = text.replaceAll(color, "");
  // Latin letters and common punctuation: nearly all texts.
  if (/^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027]*$/.test(plain)) return plain.length;

  let columns = 0;
  for (const { segment } of segmentsOf(plain)) columns += widthOf(segment);
  return columns;
}

function widthOf(character: string): number {
  const [visible] = visibleCharacter().exec(character) ?? [];
  if (visible === undefined) return 0;
  if (composedEmoji().test(character)) return 2;
  return eastAsianWidth(visible.codePointAt(0) as number); // there is one
}

/** Returns what a reader calls characters: a family is one, and so is a color. */
export function charactersOf(text: string): string[] {
  const characters: string[] = [];
  for (const part of text.split(color)) {
    if (part.startsWith("\u001B[")) characters.push(part);
    else for (const { segment } of segmentsOf(part)) characters.push(segment);
  }
  return characters;
}
