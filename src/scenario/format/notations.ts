import { camelSpelling } from "../../schema/json.js";
import { type Notation, plainJson } from "../../schema/notation.js";
import aliases from "./aliases.json" with { type: "json" };

// How the callers of a sandbox write values.

/** Other tools' words for fields and choices, by the word of the format. */
const aliasesByWord: Readonly<Record<string, readonly string[]>> = aliases;

function meaningsOf(word: string): string[] {
  return Object.keys(aliasesByWord).filter((ours) => aliasesByWord[ours]?.includes(word));
}

/** A body of the control plane. */
export const jsonNotation: Notation = { ...plainJson, meaningsOf };

/** The arguments and options of the library, in camelCase. */
export const libraryNotation: Notation = {
  ...jsonNotation,
  language: "javascript",
  whole: "the argument",
  spell: camelSpelling,
};

/** A scenario as a value, and faults: the fields of the format, as they are. */
export const valueNotation: Notation = { ...jsonNotation, language: "javascript", whole: "the value" };
