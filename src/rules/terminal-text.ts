import { eastAsianWidth } from "get-east-asian-width";
import { unicodePattern } from "../schema/words.js";

/** Controls, lone surrogates, line separators, marks of direction, and what XML forbids. Without `\p{…}`, whose tables V8 would load at each start for a literal. */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text must not contain.
  /[\0-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/gu;

/** What GitHub's runner carries out: a line that starts with `::`, and `##[` anywhere in a line. */
const logCommand = /(?<=^[^\S\n]*):(?=:)|#(?=#\[)/gm;

/** Replaces what could move the cursor, color a terminal, break a line or start a command of a CI log. */
export function oneSafeLine(text: string): string {
  return withoutLogCommands(text.replace(unprintable, "\uFFFD"));
}

export function withoutLogCommands(text: string): string {
  return text.replace(logCommand, "\uFFFD");
}

/** A color behind its escape character, such as `[31m`: the only sequence that is printed. */
const colorBehindEscape = /^\[\d{1,2}m/;

/** Replaces control characters except line ends, tabs and, if `colored`, colors. */
export function safeOutput(text: string, colored = false): string {
  return text.replace(unprintable, (sign, at: number) => {
    if (sign === "\n" || sign === "\t") return sign;
    if (sign === "\r" && text[at + 1] === "\n") return sign;
    // The byte order mark of a file.
    if (sign === "\uFEFF" && at === 0) return sign;
    const isColor = sign === "\u001B" && colorBehindEscape.test(text.slice(at + 1, at + 5));
    return isColor && colored ? sign : "\uFFFD";
  });
}

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

/** A color, a composed sign, or a character with the accents and joiners behind it. */
const signOrCharacter = unicodePattern(
  `\\u001B\\[\\d{1,2}m|${composedSigns}|.[\\p{M}\\u200C\\u200D]*`,
  "gsu",
);

/** Returns what a reader calls characters: a family is one, and so is a color. */
export function charactersOf(text: string): string[] {
  return text.match(signOrCharacter()) ?? [];
}
