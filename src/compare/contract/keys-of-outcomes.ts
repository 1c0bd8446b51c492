import { findPrefix, keyVariable } from "../../rules/keys/key-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import type { ContractRule, PromisedOutcomeId } from "./findings.js";

interface NeededKey {
  readonly rule: ContractRule;
  /** The variables that may contain the key; the first one with a suitable key wins. None: the comparison has its own. */
  readonly variables: readonly string[];
  /** Default: any kind. */
  readonly kind?: "test" | "live" | "legacy";
}

/** The variables of a working key of any kind. */
const anyWorking = ["SVC_KEY_ACTIVE", "SVC_API_KEY"];

/**
 * The outcomes in the order of the report. The first working key is tried after the first request without one, then the other
 * outcomes without a variable, then the others in this order, and limits last. If `--max-requests` is too low for all, the later ones are left out: the limits first, and then the outcomes
 * of rotations and of old forms.
 */
const neededKeys: Readonly<Record<PromisedOutcomeId, NeededKey>> = {
  "401.missing": { rule: "R9", variables: [] },
  "401.malformed": { rule: "R10", variables: [] },
  "401.unknown": { rule: "R11", variables: [] },
  "200.test": { rule: "R1", variables: anyWorking, kind: "test" },
  "200.live": { rule: "R1", variables: ["SVC_KEY_LIVE", ...anyWorking], kind: "live" },
  "401.revoked": { rule: "R12", variables: ["SVC_KEY_REVOKED"] },
  "403.insufficient_scope": { rule: "R21", variables: ["SVC_KEY_WRONG_SCOPE"] },
  "403.access_denied": { rule: "R18", variables: ["SVC_KEY_ORGANIZATION_INACTIVE"] },
  "403.live_not_approved": { rule: "R19", variables: ["SVC_KEY_LIVE_NOT_APPROVED"], kind: "live" },
  "401.expired": { rule: "R13", variables: ["SVC_KEY_EXPIRED"] },
  "403.live_suspended": { rule: "R20", variables: ["SVC_KEY_LIVE_SUSPENDED"], kind: "live" },
  "200.legacy": {
    rule: "R16",
    variables: ["SVC_KEY_LEGACY", "SVC_KEY_LEGACY_LIVE", ...anyWorking],
    kind: "legacy",
  },
  "401.rotated": { rule: "R38", variables: ["SVC_KEY_ROTATED"] },
  "200.retiring": { rule: "R38", variables: ["SVC_KEY_RETIRING"] },
  "200.replacement": { rule: "R37", variables: ["SVC_KEY_REPLACEMENT"] },
  "429.per_day": { rule: "R23", variables: ["SVC_KEY_RATE_LIMITED"] },
  "429.per_minute": { rule: "R22", variables: ["SVC_KEY_RATE_LIMITED_MINUTE"] },
};

/** A promised outcome with its key. */
export type ContractOutcome = NeededKey & { readonly outcome: PromisedOutcomeId };

const outcomesInOrder = Object.keys(neededKeys) as PromisedOutcomeId[];

export const contractOutcomes: readonly ContractOutcome[] = outcomesInOrder.map((outcome) => {
  return { outcome, ...neededKeys[outcome] };
});

export function isLimit(outcome: PromisedOutcomeId): boolean {
  return outcomeRow(outcome).status === 429;
}

export function ruleOf(outcome: PromisedOutcomeId): ContractRule {
  return neededKeys[outcome].rule;
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

    if (isKeyOfKind(apiKey, kind)) return { kind: "key", variable };
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

function isKeyOfKind(apiKey: string, kind: NeededKey["kind"]): boolean {
  if (kind === undefined) return true;
  const prefix = findPrefix(apiKey);
  if (kind === "legacy") return prefix?.legacy === true;
  return prefix?.environment === kind;
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
  for (const variable of Object.keys(env)) {
    if (variable !== "SVC_API_KEY" && !variable.startsWith("SVC_KEY_")) continue;
    if (variablesOfOwnKeys.includes(variable)) continue;
    const text = textOfVariable(variable, env);
    if (text !== "") variables.push([variable, text]);
  }
  return variables;
}

type SentRequest = PlannedRequest & { readonly apiKey?: string | undefined };

/** Notes on variables that are missing, were not tried, or should have had another key. */
export function notesOnVariables(sent: readonly SentRequest[], env: Variables): string[] {
  const notes: string[] = [];
  if (keysInVariables(env).length === 0) {
    notes.push(
      "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable. The unknown keys have the form of a sandbox's keys.",
    );
  }

  // Keys that were not tried, because a variable before theirs has a key for their outcome; and texts that are no keys.
  const triedKeys = new Set(sent.map(({ apiKey }) => apiKey));
  const notKeys: string[] = [];
  const unused: string[] = [];
  for (const [variable, text] of variablesNamedLikeKeys(env)) {
    const rows = contractOutcomes.filter(({ variables }) => variables.includes(variable));
    if (rows.length === 0) unused.push(`${variable} is not used: no outcome has this name.`);
    if (triedKeys.has(text)) continue;
    const reached = rows.filter((row) => {
      return !isKey(text) || findKey({ ...row, variables: [variable] }, env).kind === "key";
    });
    const instead = sent.find(({ outcome }) => reached.some((row) => row.outcome === outcome));
    if (instead === undefined) continue;
    const compared = `${instead.outcome} was compared with ${instead.variable}.`;
    if (isKey(text)) notes.push(`${variable} was not tried: ${compared}`);
    else notKeys.push(`${variable} is not a key: ${compared}`);
  }
  return [...notes, ...notKeys, ...notesOnSharedKeys(sent), ...unused.sort()];
}

/** Notes on variables with the same key, which cannot end in two ways. */
function notesOnSharedKeys(sent: readonly SentRequest[]): string[] {
  const variablesByKey = new Map<string | undefined, Set<string>>();
  for (const { variable, apiKey } of sent) {
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
