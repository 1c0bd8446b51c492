import { listed } from "../schema/words.js";
import { isKey, keysInVariables, type Variables, variablesNamedLikeKeys } from "./contract/key-variables.js";
import { outcomesOfVariable, outcomesReachedWith, unusedVariables } from "./contract/keys-of-outcomes.js";
import { undocumentedNames } from "./differences/undocumented-names.js";
import { type Attempt, hasData } from "./sending/attempt.js";

/** Notes on the names in responses that the contract does not have. */
export function notesOnNames(attempts: readonly Attempt[]): string[] {
  const names = new Set<string>();
  for (const attempt of attempts) {
    if (attempt.response === undefined || !isOfTheService(attempt)) continue;
    for (const name of undocumentedNames(attempt.response)) names.add(name);
  }
  return [...names].map((name) => `${name} is not in the contract.`);
}

/** Whether the service itself has responded: an outage, a lock or a gateway is no part of the contract. */
function isOfTheService({ response, unjudged }: Attempt): boolean {
  return unjudged === undefined || (response !== undefined && hasData(response));
}

/** Notes on variables that are missing, were not tried, or should have had another key. */
export function notesOnVariables(attempts: readonly Attempt[], env: Variables): string[] {
  const notes: string[] = [];
  if (keysInVariables(env).length === 0) {
    notes.push(
      "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable. The unknown keys have the form of a sandbox's keys.",
    );
  }

  notes.push(...notesOnUntriedKeys(attempts, env));
  notes.push(...notesOnTextsWithoutKey(attempts, env));
  notes.push(...notesOnSharedKeys(attempts));
  for (const name of unusedVariables(env)) notes.push(`${name} is not used: no outcome has this name.`);
  return notes;
}

/** Notes on keys that were not tried, because a variable before theirs has a key for their outcome. */
function notesOnUntriedKeys(attempts: readonly Attempt[], env: Variables): string[] {
  const triedKeys = new Set(attempts.map(({ apiKey }) => apiKey));
  const notes: string[] = [];
  for (const [variable, apiKey] of keysInVariables(env)) {
    if (triedKeys.has(apiKey)) continue;
    const outcomesOfKey = outcomesReachedWith(variable, env);
    const instead = attempts.find(({ outcome }) => outcomesOfKey.includes(outcome));
    if (instead === undefined) continue;
    notes.push(`${variable} was not tried: ${instead.outcome} was compared with ${instead.variable}.`);
  }
  return notes;
}

/** Notes on variables whose text is no key, although another variable has the key of their outcome. */
function notesOnTextsWithoutKey(attempts: readonly Attempt[], env: Variables): string[] {
  const notes: string[] = [];
  for (const [variable, text] of variablesNamedLikeKeys(env)) {
    if (isKey(text)) continue;
    const outcomes = outcomesOfVariable(variable);
    const instead = attempts.find(({ outcome }) => outcomes.includes(outcome));
    if (instead === undefined) continue;
    notes.push(`${variable} is not a key: ${instead.outcome} was compared with ${instead.variable}.`);
  }
  return notes;
}

/** Notes on variables with the same key, which cannot end in two ways. */
function notesOnSharedKeys(attempts: readonly Attempt[]): string[] {
  const variablesByKey = new Map<string | undefined, Set<string>>();
  for (const { variable, apiKey } of attempts) {
    if (variable === undefined) continue;
    const variables = variablesByKey.get(apiKey) ?? new Set();
    variablesByKey.set(apiKey, variables.add(variable));
  }

  const notes: string[] = [];
  for (const variables of variablesByKey.values()) {
    if (variables.size > 1) notes.push(`${listed([...variables], "and")} have the same key.`);
  }
  return notes;
}
