/** The text of a file. Bytes that are not UTF-8 become a character that no text has, which is a problem with its place. */
export function textOfFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\uFFFD", "\u0000");
  }
}

/** A text without percent-encoding; unchanged if that is not valid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
