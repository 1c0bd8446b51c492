import { eastAsianWidth } from "get-east-asian-width";
import { unicodePattern } from "../schema/words.js";

// How much room a text takes in a terminal.

// Several characters of Unicode can be one sign of two columns. There are four kinds of such composed signs:

/** Two letters of a country: 🇫🇮. */
const countryFlag = "\\p{RI}{2}";
/** A digit, `#` or `*` on a key: 1️⃣. */
const keycap = "[\\d#*]\\uFE0F?\\u20E3";
/** An emoji with a color of skin or the letters of a region, or several that are joined: 👋🏽, 👨‍👩‍👧. */
const composedEmoji = "\\p{ExtPict}(?:[\\uFE0F\\p{EMod}\\u{E0020}-\\u{E007F}]|\\u200D\\p{ExtPict})+";
/** The two or three letters of a Korean syllable. */
const syllable = "[\\u1100-\\u115F][\\u1160-\\u11A7][\\u11A8-\\u11FF]?";

const composedSigns = [countryFlag, keycap, composedEmoji, syllable].join("|");

/** A color with its escape character, such as `\x1B[31m`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const color = /\x1B\[\d{1,2}m/g;

const composedSign = unicodePattern(composedSigns, "gu");
/** What stands for a composed sign while columns are counted: any character of two columns. */
const wideCharacter = "\u{1F46A}";
/** Any character but those without a column: what is invisible by default, controls, formats such as joiners, accents, half pairs. */
const visibleCharacter = unicodePattern("^[^\\p{DI}\\p{Cc}\\p{Cf}\\p{Mn}\\p{Me}\\p{Cs}]$", "u");

/** Returns the columns of a text in a terminal: a color has none, a Chinese letter or a family two. */
export function textWidth(text: string): number {
  const plain = text.replaceAll(color, "");
  // Latin letters and common punctuation: nearly all texts.
  if (/^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027]*$/.test(plain)) return plain.length;

  const singleCharacters = plain.replace(composedSign(), wideCharacter);
  let columns = 0;
  for (const single of singleCharacters) {
    if (visibleCharacter().test(single)) columns += eastAsianWidth(single.codePointAt(0) as number); // there is one
  }
  return columns;
}

/** A composed sign, or a character with the accents and joiners behind it. */
const signOrCharacter = unicodePattern(`${composedSigns}|.[\\p{M}\\u200C\\u200D]*`, "gsu");

/** Returns what a reader calls characters: a family is one. */
export function charactersOf(text: string): string[] {
  return text.match(signOrCharacter()) ?? [];
}
