import type { Finding } from "./finding.js";
import type { ScenarioSource } from "./scenario-source.js";

/** The size of the largest scenario text that is read, in UTF-8 bytes: 1 MiB. */
export const maximumScenarioBytes = 1024 * 1024;

/** Whether the text is longer than {@link maximumScenarioBytes}. */
export function isTooLarge(text: string): boolean {
  // A UTF-16 unit is one to three bytes of UTF-8, so that most texts need not be encoded to know.
  if (text.length > maximumScenarioBytes) return true;
  if (text.length * 3 <= maximumScenarioBytes) return false;
  return new TextEncoder().encode(text).length > maximumScenarioBytes;
}

/** Why a text is not even tried to be read as YAML, or `undefined` when it is. */
export function whyUnreadable(source: ScenarioSource): Finding | undefined {
  const at = (offset: number) => ({ path: [], place: { source, offset } });
  if (isTooLarge(source.text)) {
    return {
      code: "too_large",
      message: "the scenario is larger than 1 MiB",
      hint: "let the seed invent what need not be written down",
      ...at(0),
    };
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what no text holds is what is looked for
  const binary = source.text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\uFFFD]/);
  if (binary !== -1) {
    return {
      code: "not_text",
      message: "the file is not a text in UTF-8",
      hint: "save it as plain text in UTF-8",
      ...at(binary),
    };
  }
  return undefined;
}
