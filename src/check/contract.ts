import { type KeyPrefix, keyPrefixes, variableOf } from "../rules/api-key.js";
import type { PathId, PromisedPathId } from "../rules/outcomes.js";

/** A rule of the specification, or of HTTP itself. */
export type CheckedRule = `R${number}` | "RFC 9110";

/** A place where a response differs from the contract. */
export interface ContractDifference {
  readonly rules: readonly CheckedRule[];
  readonly pathId: PathId;
  /** `status`, `connection`, `body`, a header's name, or a member's JSON path: `$.data.limits.per_day`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
  readonly requestId?: string;
}

/** Makes a key, or none, for each repetition of a request. */
export type KeyOf = (index: number) => string | undefined;

/** What a path sends that needs none of the server's keys. */
type KeylessPath = Pick<NeededKey, "rule"> & { readonly sends: (unknownKey: KeyOf) => KeyOf };

interface NeededKey {
  readonly rule: CheckedRule;
  /** The variables that may contain the key; the first one with a suitable key wins. */
  readonly variables: readonly string[];
  /** Default: any kind. */
  readonly kind?: "test" | "live" | "legacy";
  /** Whether the path is at a limit, and only tried on request. */
  readonly isLimit?: true;
}

export const anyWorking = ["SVC_KEY_ACTIVE", "SVC_API_KEY"];

/** How a check reaches each promised path, in this order: paths that test a separate rule come first. */
const checkedPaths: Readonly<Record<PromisedPathId, KeylessPath | NeededKey>> = {
  "401.missing": { rule: "R9", sends: () => () => undefined },
  "401.malformed": { rule: "R10", sends: () => (index) => `not-a-key${index || ""}` },
  "401.unknown": { rule: "R11", sends: (unknownKey) => unknownKey },
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
  "429.per_day": { rule: "R23", variables: ["SVC_KEY_RATE_LIMITED"], isLimit: true },
  "429.per_minute": { rule: "R22", variables: ["SVC_KEY_RATE_LIMITED_MINUTE"], isLimit: true },
};

const rows = (Object.keys(checkedPaths) as PromisedPathId[]).map((pathId) => ({
  pathId,
  ...checkedPaths[pathId],
}));

export type KeyedPath = NeededKey & { readonly pathId: PromisedPathId };

const withKey = rows.filter((row): row is KeyedPath => "variables" in row);

export const keyedPaths = withKey.filter(({ isLimit }) => isLimit === undefined);

export const limitPaths = withKey.filter(({ isLimit }) => isLimit);

/** The paths that need none of the server's keys, and what to send. */
export const keylessPaths = (unknownKey: KeyOf) =>
  rows.flatMap((row) => ("sends" in row ? { pathId: row.pathId, keyOf: row.sends(unknownKey) } : []));

/** The rule of a path; a success of another endpoint than `/me` has its shape from the description. */
export function ruleOf(pathId: PathId): CheckedRule {
  return (checkedPaths as Partial<Record<PathId, KeylessPath | NeededKey>>)[pathId]?.rule ?? "R48";
}

export type Variables = Readonly<Record<string, string | undefined>>;

type FoundKey = { readonly variable: string; readonly apiKey: string } | { readonly reason: string };

/** Finds the key of a path. The reason contains no part of a key. */
export function findKey({ variables, kind }: KeyedPath, env: Variables): FoundKey {
  const misfits: string[] = [];
  for (const variable of variables) {
    const apiKey = env[variable]?.trim() ?? "";
    if (apiKey === "") continue;
    const prefix = keyPrefixOf(apiKey);
    if (prefix === undefined || !isSendable(apiKey)) {
      misfits.push(
        `${variable} is not a key: it does not start with one of the four prefixes, or has characters that a header cannot contain`,
      );
    } else if (kind === undefined || (kind === "legacy" ? prefix.legacy : prefix.environment === kind)) {
      return { variable, apiKey };
    }
    // A working key of another kind belongs to another path.
    else if (!anyWorking.includes(variable)) misfits.push(`${variable} is not a ${kind} key`);
  }
  const needed = kind === undefined ? "" : `a ${kind} key in `;
  return { reason: misfits[0] ?? `needs ${needed}${variables.join(" or ")}` };
}

// The other characters of real keys are unknown, so only characters that a header cannot contain are rejected. Not with a
// regular expression: V8 keeps its last input (R46).
function isSendable(apiKey: string): boolean {
  return [...apiKey].every((character) => character > " " && character <= "~");
}

// Variables of `keys --format env` that are not keys: a check has its own unknown and malformed keys.
const unheld: readonly string[] = [variableOf("unknown"), variableOf("malformed")];

/** Returns the variables that look like keys but belong to no path. */
export function unusedVariables(env: Variables): string[] {
  const used = new Set([...unheld, ...withKey.flatMap(({ variables }) => variables)]);
  return Object.keys(env)
    .filter((name) => name.startsWith("SVC_KEY_") && (env[name] ?? "") !== "" && !used.has(name))
    .sort();
}

/** Returns every key in the variables, used or not. */
export function keysInVariables(env: Variables): string[] {
  return Object.entries(env)
    .filter(([name]) => name === "SVC_API_KEY" || (name.startsWith("SVC_KEY_") && !unheld.includes(name)))
    .map(([, value]) => value?.trim() ?? "")
    .filter((value) => value !== "");
}

export function keyPrefixOf(apiKey: string): KeyPrefix | undefined {
  return keyPrefixes.find(({ prefix }) => apiKey.startsWith(prefix));
}
