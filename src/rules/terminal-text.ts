/** Controls, lone surrogates, line separators, marks of direction, and what XML forbids. Without `\p{…}`, whose tables V8 would load at each start for a literal. */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text must not contain.
  /[\0-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/gu;

/** What GitHub's runner carries out: a line that starts with `::`, and `##[` anywhere in a line. */
const logCommand = /:(?<=^[^\S\n]*:)(?=:)|#(?=#\[)/gm;

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
