import { redactKeys } from "../domain/redact.js";

// What follows `secret:` may be a real key that only lacks its prefix, so it is shortened whatever it looks like.
const secretValue = /(\bsecret["']?\s*:\s*["']?)([^\s"',}#][^\s"',}]{3})([^\s"',}]+)/g;
// Characters that would move the cursor, recolour the terminal or reverse the text of whoever reads the message.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

/**
 * A line of a scenario as it may be shown: keys shortened, also misspelt ones after `secret:` (R46), and nothing
 * invisible.
 *
 * @example
 * redactLine("secret: SVC_test_sbx123"); // "secret: SVC_test_…"
 */
export function redactLine(line: string): string {
  return redactKeys(line)
    .replace(secretValue, (whole, field, start, rest) => (rest.endsWith("…") ? whole : `${field}${start}…`))
    .replace(control, "\uFFFD");
}
