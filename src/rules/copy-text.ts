/** A copy of a text in its own memory: a substring would keep the whole text alive. */
export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
