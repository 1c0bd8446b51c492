import { findPrefix, keyVariable } from "../../rules/keys/key-text.js";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables of `keys --format env` that a comparison does not read: it makes its own unknown and malformed keys. */
const variablesOfOwnKeys: readonly string[] = [keyVariable("unknown"), keyVariable("malformed")];

/** Returns the text of a variable without spaces around it; empty if it is not set. */
export function textOfVariable(variable: string, env: Variables): string {
  return env[variable]?.trim() ?? "";
}

/** Whether a text can be a key: a prefix, and more characters that a header can contain. */
export function isKey(text: string): boolean {
  const prefix = findPrefix(text)?.prefix;
  if (prefix === undefined || text === prefix) return false;
  // Not with a regular expression: V8 keeps its last input (R46).
  return [...text].every((character) => character > " " && character <= "~");
}

/** Returns every key with its variable, used or not. What is in other variables is never sent, and no secret. */
export function keysInVariables(env: Variables): [variable: string, apiKey: string][] {
  return variablesNamedLikeKeys(env).filter(([, text]) => isKey(text));
}

/** Returns the variables with the name of a key that have a text, also one that is no key. */
export function variablesNamedLikeKeys(env: Variables): [variable: string, text: string][] {
  const variables: [string, string][] = [];
  for (const variable of Object.keys(env)) {
    if (variable !== "SVC_API_KEY" && !variable.startsWith("SVC_KEY_")) continue;
    if (variablesOfOwnKeys.includes(variable)) continue;
    const text = textOfVariable(variable, env);
    if (text !== "") variables.push([variable, text]);
  }
  return variables;
}
