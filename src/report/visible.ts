// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

/** A text that a client sent as it may be shown: it cannot move the cursor or recolour the terminal of who reads it. */
export function visible(text: string): string {
  return text.replace(control, "\uFFFD");
}
