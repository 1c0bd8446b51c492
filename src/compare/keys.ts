import { findPrefix, hasSandboxMark, keyVariable, sandboxMark } from "../rules/keys/key-text.js";
import { outcomeRow } from "../rules/outcomes.js";
import { defaultSeed, pick, type RandomStream } from "../rules/seed.js";
import { unknownSecret } from "../scenario/keys.js";
import type { ContractRule, PromisedOutcomeId } from "./findings.js";

// Which key a request has: that of a variable, or an unknown key in the same form.

/** A promised outcome with the key that it needs. */
export interface ContractOutcome {
  readonly outcome: PromisedOutcomeId;
  readonly rule: ContractRule;
  /** The variables that may contain the key; the first one with a suitable key wins. None: the comparison has its own. */
  readonly variables: readonly string[];
  /** Default: any kind. */
  readonly kind?: "test" | "live" | "legacy";
}

/** The variables of a working key of any kind. */
const anyWorking = ["SVC_KEY_ACTIVE", "SVC_API_KEY"];

/**
 * The outcomes in the order of the report. If `--max-requests` is too low for all, the later ones are left out: the limits first,
 * and then the outcomes of rotations and of old forms.
 */
export const contractOutcomes: readonly ContractOutcome[] = [
  { outcome: "401.missing", rule: "R9", variables: [] },
  { outcome: "401.malformed", rule: "R10", variables: [] },
  { outcome: "401.unknown", rule: "R11", variables: [] },
  { outcome: "200.test", rule: "R1", variables: anyWorking, kind: "test" },
  { outcome: "200.live", rule: "R1", variables: ["SVC_KEY_LIVE", ...anyWorking], kind: "live" },
  { outcome: "401.revoked", rule: "R12", variables: ["SVC_KEY_REVOKED"] },
  { outcome: "403.insufficient_scope", rule: "R21", variables: ["SVC_KEY_WRONG_SCOPE"] },
  { outcome: "403.access_denied", rule: "R18", variables: ["SVC_KEY_ORGANIZATION_INACTIVE"] },
  { outcome: "403.live_not_approved", rule: "R19", variables: ["SVC_KEY_LIVE_NOT_APPROVED"], kind: "live" },
  { outcome: "401.expired", rule: "R13", variables: ["SVC_KEY_EXPIRED"] },
  { outcome: "403.live_suspended", rule: "R20", variables: ["SVC_KEY_LIVE_SUSPENDED"], kind: "live" },
  {
    outcome: "200.legacy",
    rule: "R16",
    variables: ["SVC_KEY_LEGACY", "SVC_KEY_LEGACY_LIVE", ...anyWorking],
    kind: "legacy",
  },
  { outcome: "401.rotated", rule: "R38", variables: ["SVC_KEY_ROTATED"] },
  { outcome: "200.retiring", rule: "R38", variables: ["SVC_KEY_RETIRING"] },
  { outcome: "200.replacement", rule: "R37", variables: ["SVC_KEY_REPLACEMENT"] },
  { outcome: "429.per_day", rule: "R23", variables: ["SVC_KEY_RATE_LIMITED"] },
  { outcome: "429.per_minute", rule: "R22", variables: ["SVC_KEY_RATE_LIMITED_MINUTE"] },
];

/** Sorts by outcome, as the report does: the order of the requests is another one each time. */
export function inReportOrder<Item>(
  items: readonly Item[],
  outcomeOf: (item: Item) => PromisedOutcomeId,
): Item[] {
  const order = contractOutcomes.map(({ outcome }) => outcome);
  return [...items].sort((left, right) => order.indexOf(outcomeOf(left)) - order.indexOf(outcomeOf(right)));
}

/** Shuffles the first items; the others, for which no request is left, stay the last ones. */
export function inRandomOrder<Item>(items: readonly Item[], count: number, random: RandomStream): Item[] {
  const first = items.slice(0, count).map((item) => ({ item, drawn: random() }));
  first.sort((left, right) => left.drawn - right.drawn);
  return [...first.map(({ item }) => item), ...items.slice(count)];
}

export function isLimit(outcome: PromisedOutcomeId): boolean {
  return outcomeRow(outcome).status === 429;
}

export function ruleOf(outcome: PromisedOutcomeId): ContractRule {
  return contractOutcomes.find((row) => row.outcome === outcome)?.rule ?? "R1";
}

/** The variable with the key of an outcome, none if it needs no key of yours, or why there is none, without a part of a key. */
type KeyOfOutcome =
  | { readonly kind: "key"; readonly variable?: string }
  | { readonly kind: "no_key"; readonly why: string };

export function findKey({ variables, kind }: ContractOutcome, env: Variables): KeyOfOutcome {
  if (variables.length === 0) return { kind: "key" };
  let whyUnsuitable: string | undefined;
  for (const variable of variables) {
    const apiKey = textOfVariable(variable, env);
    if (apiKey === "") continue;
    if (!isKey(apiKey)) {
      whyUnsuitable ??= `${variable} is not a key: it does not start with one of the four prefixes, or has characters that a header cannot contain`;
      continue;
    }

    const prefix = findPrefix(apiKey);
    const isOfKind = kind === "legacy" ? prefix?.legacy === true : prefix?.environment === kind;
    if (kind === undefined || isOfKind) return { kind: "key", variable };
    // A working key of another kind belongs to another outcome.
    if (!anyWorking.includes(variable)) whyUnsuitable ??= `${variable} is not a ${kind} key`;
  }

  if (whyUnsuitable !== undefined) return { kind: "no_key", why: whyUnsuitable };
  const needed = kind === undefined ? "" : `a ${kind} key in `;
  return { kind: "no_key", why: `needs ${needed}${variables.join(" or ")}` };
}

/**
 * A request to send, with the key of its variable. Without one, the session makes the key: a new one for `401.unknown` and for
 * `401.malformed`, and none for `401.missing`.
 */
export interface PlannedRequest {
  readonly outcome: PromisedOutcomeId;
  readonly variable?: string | undefined;
  /** Whether the key has the prefix of the other environment: then it is an unknown one (R15). */
  readonly otherPrefix?: boolean | undefined;
}

/** The requests that should get 200, and have a key: the first one is the best known key. */
export function plannedSuccesses(env: Variables): PlannedRequest[] {
  const planned: PlannedRequest[] = [];
  for (const row of contractOutcomes) {
    const key = findKey(row, env);
    if (outcomeRow(row.outcome).status !== 200 || key.kind !== "key" || key.variable === undefined) continue;
    planned.push({ outcome: row.outcome, variable: key.variable });
  }
  return planned;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables of `keys --format env` that a comparison does not read: it makes its own unknown and malformed keys. */
const variablesOfOwnKeys: readonly string[] = [keyVariable("unknown"), keyVariable("malformed")];

/** Returns the text of a variable without spaces around it; empty if it is not set. */
export function textOfVariable(variable: string, env: Variables): string {
  return env[variable]?.trim() ?? "";
}

/** Whether a text can be a key: a prefix, and more characters that a header can contain. */
function isKey(text: string): boolean {
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
function variablesNamedLikeKeys(env: Variables): [variable: string, text: string][] {
  const variables: [string, string][] = [];
  for (const variable of Object.keys(env).sort()) {
    if (variable !== "SVC_API_KEY" && !variable.startsWith("SVC_KEY_")) continue;
    if (variablesOfOwnKeys.includes(variable)) continue;
    const text = textOfVariable(variable, env);
    if (text !== "") variables.push([variable, text]);
  }
  return variables;
}

/** Notes on variables that are missing, or that no outcome has. */
export function notesOnVariables(env: Variables): string[] {
  const notes: string[] = [];
  if (keysInVariables(env).length === 0) {
    notes.push(
      "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable. The unknown keys have the form of a sandbox's keys.",
    );
  }

  for (const [variable] of variablesNamedLikeKeys(env)) {
    const isUsed = contractOutcomes.some(({ variables }) => variables.includes(variable));
    if (!isUsed) notes.push(`${variable} is not used: no outcome has this name.`);
  }
  return notes;
}

const digits = "0123456789";
const lowerCase = "abcdefghijklmnopqrstuvwxyz";
const hexadecimal = "abcdef";

/**
 * Makes unknown keys in the form of a key in the variables, so that a service does not reject them as malformed: same prefix,
 * same length, and for each character another one of its kind. Without a key, their form is that of a sandbox's.
 */
export function createUnknownKeys(env: Variables, draw: RandomStream): () => string {
  const given = new Map(keysInVariables(env));
  const [working] = plannedSuccesses(env);
  const [anyKey] = given.values();
  const modelKey = given.get(working?.variable ?? "") ?? anyKey ?? unknownSecret(defaultSeed);
  const prefix = findPrefix(modelKey)?.prefix ?? "";
  // Only a sandbox's keys have the mark.
  const start = hasSandboxMark(modelKey) ? prefix + sandboxMark : prefix;
  const rest = modelKey.slice(start.length);
  const kinds = characterKinds(rest);
  return () => {
    let key = start;
    for (const character of rest) {
      const kind = kinds.find((characters) => characters.includes(character));
      // A character of no kind, such as `-`, belongs to the form.
      const drawnCharacter = kind === undefined ? character : pick(draw, [...kind.replace(character, "")]);
      key += drawnCharacter;
    }
    return key;
  };
}

/** The characters of each kind in a key. If all its letters are hexadecimal digits, so are those of the others. */
function characterKinds(text: string): readonly string[] {
  const letters = [...text].filter((character) => /[A-Za-z]/.test(character));
  if (letters.every((letter) => hexadecimal.includes(letter))) return [digits, hexadecimal];

  const upperHexadecimal = hexadecimal.toUpperCase();
  if (letters.every((letter) => upperHexadecimal.includes(letter))) return [digits, upperHexadecimal];
  return [digits, lowerCase, lowerCase.toUpperCase()];
}
