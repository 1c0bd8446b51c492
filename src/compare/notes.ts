import { me } from "../api/endpoints.js";
import { errorShape } from "../api/openapi.js";
import { type Shape, shapeOfField } from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { listed } from "../schema/words.js";
import {
  isKey,
  keysInVariables,
  outcomesOfVariable,
  outcomesReachedWith,
  unusedVariables,
  type Variables,
  variablesNamedLikeKeys,
} from "./contract/keys-of-outcomes.js";
import { type RedactedResponse, shownText } from "./response/response.js";
import { type Attempt, isOfTheService } from "./sending/attempt.js";

export function notesOnNames(attempts: readonly Attempt[]): string[] {
  const names = new Set<string>();
  for (const attempt of attempts) {
    if (attempt.response === undefined || !isOfTheService(attempt)) continue;
    for (const name of undocumentedNames(attempt.response)) names.add(name);
  }
  return [...names].map((name) => `${name} is not in the contract.`);
}

/** So many undocumented names of a response are noted at most. */
const mostNames = 100;

/** Returns the names that the contract does not have: members, and headers that announce an endpoint's end. */
function undocumentedNames(response: RedactedResponse): string[] {
  const shape = response.status < 400 ? me.responseShape : errorShape;
  const names = unknownMembers(shape, response.json).slice(0, mostNames);
  for (const [name] of response.headers) {
    const nameInText = shownText(name);
    if (/^(?:deprecation|sunset)$/i.test(nameInText)) names.push(nameInText);
  }
  return names;
}

/** Returns the members of a value that its shape does not have, by their JSON paths: `$.data.plan`. */
function unknownMembers(shape: Shape, value: unknown, parent = "$"): string[] {
  if (shape.kind !== "mapping" || !isMapping(value)) return [];
  const unknownNames: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = `${parent}.${name}`;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    // Of an unknown member, only its own name: the names in it may be data.
    if (field === undefined) unknownNames.push(shownText(at));
    else unknownNames.push(...unknownMembers(shapeOfField(field), member, at));
  }
  return unknownNames;
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
