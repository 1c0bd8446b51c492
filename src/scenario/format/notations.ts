import { jsonNotation, type Notation } from "../../schema/notation.js";
import { camelCaseName } from "../../schema/spelling.js";

// How the callers of a sandbox write values, other than in JSON.

/** A scenario as a text. */
export const yamlNotation: Notation = {
  ...jsonNotation,
  language: "yaml",
  nameOfWhole: "the scenario",
};

/** The arguments and options of the library, in camelCase. */
export const libraryNotation: Notation = {
  ...jsonNotation,
  language: "javascript",
  nameOfWhole: "the argument",
  spell: camelCaseName,
};

/** A scenario as a value, and faults: the fields of the format, as they are. */
export const valueNotation: Notation = { ...jsonNotation, language: "javascript", nameOfWhole: "the value" };
