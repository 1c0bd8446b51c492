import { eastAsianWidth } from "get-east-asian-width";
import { unicodePattern } from "../schema/unicode-pattern.js";

// How much room a text takes in a terminal.

/** Two letters of a country: 🇫🇮. */
const countryFlag = "\\p{RI}{2}";
/** A digit, `#` or `*` on a key: 1️⃣. */
const keycap = "[\\d#*]\\uFE0F?\\u20E3";
/** An emoji with a color of skin or the letters of a region, or several that are joined: 👋🏽, 👨‍👩‍👧. */
const composedEmoji = "\\p{ExtPict}(?:[\\uFE0F\\p{EMod}\\u{E0020}-\\u{E007F}]|\\u200D\\p{ExtPict})+";
/** The two or three letters of a Korean syllable. */
const syllable = "[\\u1100-\\u115F][\\u1160-\\u11A7][\\u11A8-\\u11FF]?";

/** Several characters of Unicode that are one sign of two columns. */
const composedSigns = [countryFlag, keycap, composedEmoji, syllable].join("|");
const composedSign = unicodePattern(composedSigns, "gu");
/** A composed sign, or a character with the accents and joiners behind it. */
const readCharacter = unicodePattern(`${composedSigns}|.[\\p{M}\\u200C\\u200D]*`, "gsu");
/** A character that can be seen: no control, no accent and no joiner. */
const visible = unicodePattern("^[^\\p{DI}\\p{Cc}\\p{Cf}\\p{Mn}\\p{Me}\\p{Cs}]$", "u");

/** Any character of two columns: a composed sign is as wide. */
const wideCharacter = "\u{1F46A}";

/** A color with its escape character, such as `\x1B[31m`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const color = /\x1B\[\d{1,2}m/g;

/** Returns the columns of a text in a terminal: a color has none, a Chinese letter or a family two. */
export function textWidth(text: string): number {
  const plain = text.replaceAll(color, "");
  // Latin letters and common punctuation: nearly all texts.
  if (/^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027]*$/.test(plain)) return plain.length;

  const singleCharacters = plain.replace(composedSign(), wideCharacter);
  let columns = 0;
  for (const single of singleCharacters) {
    if (visible().test(single)) columns += eastAsianWidth(single.codePointAt(0) as number); // there is one
  }
  return columns;
}

/** Returns what a reader calls characters: a family is one. */
export function charactersOf(text: string): string[] {
  return text.match(readCharacter()) ?? [];
}
