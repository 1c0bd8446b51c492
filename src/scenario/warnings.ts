import { defaultScopes, isMarked, sandboxMark } from "../rules/api-key.js";
import type { Spelling } from "../rules/schema/problem.js";
import { nearest, quote } from "../rules/schema/words.js";
import { describedKeys, writtenKeys } from "./described-keys.js";
import type { FieldProblem } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { numbersOfBodies, writtenEndpoints } from "./written-endpoints.js";

// What a valid scenario has, and is usually a mistake.

const maxWarnings = 20;

/** The pinned secrets without the mark of a sandbox: each may be a real key, which must not be in a file. */
export function unmarkedSecrets(scenario: Scenario): FieldProblem[] {
  const unmarked = [...writtenKeys(scenario)].filter(
    ({ fields: { secret } }) => secret !== undefined && !isMarked(secret),
  );
  return unmarked.slice(0, maxWarnings).map(({ ref, path }) => {
    const message = `the secret of ${quote(ref)} has no ${sandboxMark} after its prefix, as every key of a sandbox has`;
    const hint = `if it is a real key, rotate it and remove it here. If not, write ${sandboxMark} there, or leave secret out and the seed makes one`;
    return { code: "secret_unmarked", field: [...path, "secret"], message, hint };
  });
}

/** The scopes that an endpoint requires and no key has: each of its requests gets 403. */
export function unheldScopes(scenario: Scenario): FieldProblem[] {
  const held = scopesOfKeys(scenario);
  if (held.size === 0) return [];
  const required = [
    ...writtenEndpoints(scenario).map(([name, { scope }]) => [["endpoints", name, "scope"], scope] as const),
    [["assumptions", "me_scope"], scenario.assumptions?.me_scope] as const,
  ];
  const unheld = required.flatMap(([field, scope]): FieldProblem[] => {
    if (!scope || held.has(scope)) return [];
    const near = nearest(scope, held);
    const hint = near ? `did you mean ${near}?` : "add it to the scopes of a key";
    const message = `no key of this scenario has the scope ${quote(scope)}: each request gets 403`;
    return [{ code: "scope_unheld", field, message, hint }];
  });
  return unheld.slice(0, maxWarnings);
}

/** The decimals in bodies that are shorter in JSON, such as a version `3.10`. */
export function shortenedDecimals(scenario: Scenario, spelling: Spelling): FieldProblem[] {
  const shortened: FieldProblem[] = [];
  for (const [field, number] of numbersOfBodies(scenario)) {
    const text = spelling(field);
    if (text === undefined || !/^[+-]?\d*\.\d*0$/.test(text)) continue;
    const message = `JSON drops the last zeros of ${text}: it is ${JSON.stringify(number)}`;
    const hint = `write a version or a code in quotes: "${text}"`;
    if (shortened.length < maxWarnings) shortened.push({ code: "zeros_dropped", field, message, hint });
  }
  return shortened;
}

/** The scopes of all keys, also of those that a step creates. */
function scopesOfKeys(scenario: Scenario): ReadonlySet<string> {
  const { timeline = [], story = [] } = scenario;
  const created = [...timeline, ...story].flatMap((step) => step.create_key ?? []);
  const keys = [...Array.from(describedKeys(scenario), ({ fields }) => fields), ...created];
  return new Set(keys.flatMap(({ scopes = defaultScopes }) => scopes));
}
