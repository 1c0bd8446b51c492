import { eastAsianWidth } from "get-east-asian-width";
import { unicodePattern } from "../schema/unicode-pattern.js";

/** Controls, lone surrogates, line separators, marks of direction, and what XML forbids. Without `\p{…}`, as it is a literal. */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text must not contain.
  /[\0-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/gu;

/** What GitHub's runner carries out: a line that starts with `::`, and `##[` anywhere in a line. */
const logCommand = /(?<=^[^\S\n]*):(?=:)|#(?=#\[)/gm;

/** Replaces what could move the cursor, color a terminal, break a line or start a command of a CI log. */
export function escapeControls(text: string): string {
  return escapeCommands(text.replace(unprintable, "\uFFFD"));
}

/** Replaces what could start a command of a CI log. */
export function escapeCommands(text: string): string {
  return text.replace(logCommand, "\uFFFD");
}

/** A color behind its control character: the only sequence that we print. */
const color = /^\[\d{1,2}m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const colors = /[\0-\x1F\x7F-\x9F]\[\d{1,2}m/g;

/** Replaces control characters except line ends, tabs and, if `colored`, colors. */
export function printable(text: string, colored = false): string {
  return text.replace(unprintable, (sign, at: number) => {
    if (sign === "\n" || sign === "\t") return sign;
    if (sign === "\r" && text[at + 1] === "\n") return sign;
    // The byte order mark of a file.
    if (sign === "\uFEFF" && at === 0) return sign;
    const isColor = sign === "\u001B" && color.test(text.slice(at + 1, at + 5));
    return isColor && colored ? sign : "\uFFFD";
  });
}

/** What takes up two columns as one sign, whatever its parts have. */
const wideSigns = [
  // A flag: two letters of a country.
  "\\p{RI}{2}",
  // A digit on a key: 1️⃣.
  "[\\d#*]\\uFE0F?\\u20E3",
  // An emoji with its color of skin or as a flag of a region, or several that are joined to a family.
  "\\p{ExtPict}(?:[\\uFE0F\\p{EMod}\\u{E0020}-\\u{E007F}]|\\u200D\\p{ExtPict})+",
  // A Korean syllable of two or three letters.
  "[\\u1100-\\u115F][\\u1160-\\u11A7][\\u11A8-\\u11FF]?",
].join("|");
const wideSign = unicodePattern(wideSigns, "gu");
/** A wide sign, or any other with the accents and joiners behind it. */
const character = unicodePattern(`${wideSigns}|.[\\p{M}\\u200C\\u200D]*`, "gsu");
/** What has a width: no accent, no control and nothing else that is not seen. */
const visible = unicodePattern("^[^\\p{DI}\\p{Cc}\\p{Cf}\\p{Mn}\\p{Me}\\p{Cs}]$", "u");

/** Returns the columns of a text in a terminal: a color has none, a Chinese letter or a family two. */
export function textWidth(text: string): number {
  const plain = text.replaceAll(colors, "");
  // Latin letters and common punctuation: nearly all texts.
  if (/^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027]*$/.test(plain)) return plain.length;
  // A family, which is of two columns and has no parts, stands for each wide sign.
  const ofSingleSigns = plain.replace(wideSign(), "\u{1F46A}");
  let columns = 0;
  for (const sign of ofSingleSigns) {
    if (visible().test(sign)) columns += eastAsianWidth(sign.codePointAt(0) as number);
  }
  return columns;
}

/** Returns what a reader calls characters: a family is one. */
export function charactersOf(text: string): string[] {
  return text.match(character()) ?? [];
}
