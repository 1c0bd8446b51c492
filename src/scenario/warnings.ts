import { hasSandboxMark, sandboxMark } from "../rules/keys/key-text.js";
import type { FieldPath } from "../schema/field-path.js";
import { nearest, quote } from "../schema/words.js";
import { defaultScopes } from "./keys/key-settings.js";
import { allKeys, fieldOfKey, listedKeys } from "./keys/scenario-keys.js";
import type { FieldProblem, ScenarioPlaces } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { numbersOfBodies, writtenEndpoints } from "./written-endpoints.js";

/** At most this many warnings of a kind are shown. */
const maxWarnings = 20;

/** What is usually a mistake in a scenario that is valid, by its kind, in the order in which the kinds are shown. */
export function warningsOf(scenario: Scenario, spelling: ScenarioPlaces["spelling"]) {
  return {
    unmarkedSecrets: unmarkedSecrets(scenario),
    unheldScopes: unheldScopes(scenario),
    shortenedDecimals: shortenedDecimals(scenario, spelling),
  };
}

/** The pinned secrets without the mark of a sandbox: each may be a real key, which must not be in a file. */
function unmarkedSecrets(scenario: Scenario): FieldProblem[] {
  const warnings: FieldProblem[] = [];
  for (const key of listedKeys(scenario)) {
    const { secret } = key.fields;
    if (secret === undefined || hasSandboxMark(secret)) continue;
    warnings.push({
      code: "secret_unmarked",
      field: [...fieldOfKey(key), "secret"],
      message: `the secret of ${quote(key.ref)} has no ${sandboxMark} after its prefix, as every key of a sandbox has`,
      hint: `if it is a real key, rotate it and remove it here. If not, write ${sandboxMark} there, or leave secret out and the seed makes one`,
    });
  }
  return warnings.slice(0, maxWarnings);
}

/** A scope that an endpoint requires, and the field that says so. */
interface RequiredScope {
  readonly field: FieldPath;
  readonly scope: string | null | undefined;
}

/** The scopes that an endpoint requires and no key has: each of its requests gets 403. */
function unheldScopes(scenario: Scenario): FieldProblem[] {
  const held = scopesOfKeys(scenario);
  if (held.size === 0) return [];

  const required: RequiredScope[] = [];
  for (const [name, { scope }] of writtenEndpoints(scenario)) {
    required.push({ field: ["endpoints", name, "scope"], scope });
  }
  // If the scenario does not write `me_scope`, a key without the scope of `/me` is on purpose: it shows the 403.
  required.push({ field: ["assumptions", "me_scope"], scope: scenario.assumptions?.me_scope });

  const warnings: FieldProblem[] = [];
  for (const { field, scope } of required) {
    if (!scope || held.has(scope)) continue;
    const near = nearest(scope, held);
    const hint = near === undefined ? "add it to the scopes of a key" : `did you mean ${near}?`;
    warnings.push({
      code: "scope_unheld",
      field,
      message: `no key of this scenario has the scope ${quote(scope)}: each request gets 403`,
      hint,
    });
  }
  return warnings.slice(0, maxWarnings);
}

/** The decimals in bodies that are shorter in JSON, such as a version `3.10`. */
function shortenedDecimals(scenario: Scenario, spelling: ScenarioPlaces["spelling"]): FieldProblem[] {
  const warnings: FieldProblem[] = [];
  for (const [field, number] of numbersOfBodies(scenario)) {
    if (warnings.length === maxWarnings) break;
    const text = spelling(field);
    if (text === undefined || !/^[+-]?\d*\.\d*0$/.test(text)) continue;
    warnings.push({
      code: "zeros_dropped",
      field,
      message: `JSON drops the last zeros of ${text}: it is ${JSON.stringify(number)}`,
      hint: `write a version or a code in quotes: "${text}"`,
    });
  }
  return warnings;
}

/** The scopes of all keys, also of those that a step creates. */
function scopesOfKeys(scenario: Scenario): ReadonlySet<string> {
  const scopes = new Set<string>();
  const add = (fields: { readonly scopes?: readonly string[] | undefined }) => {
    for (const scope of fields.scopes ?? defaultScopes) scopes.add(scope);
  };

  for (const { fields } of allKeys(scenario)) add(fields);
  const { timeline = [], story = [] } = scenario;
  for (const step of [...timeline, ...story]) {
    if (step.create_key !== undefined) add(step.create_key);
  }
  return scopes;
}
