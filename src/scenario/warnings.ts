import { hasSandboxMark, sandboxMark } from "../rules/keys/key-text.js";
import type { FieldPath } from "../schema/shape.js";
import { nearest, quote } from "../schema/words.js";
import { positionsInRotations } from "./key-ends.js";
import { defaultScopes, fieldOfKey, listedKeys, populationOf, writtenEndpoints } from "./keys.js";
import type { FieldProblem } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";

/** At most this many warnings of a kind are shown. */
const maxWarnings = 20;

/** What is usually a mistake in a scenario that is valid, by its kind, in the order in which the kinds are shown. */
export function warningsOf(scenario: Scenario) {
  return { unmarkedSecrets: unmarkedSecrets(scenario), unheldScopes: unheldScopes(scenario) };
}

/** The pinned secrets without the mark of a sandbox: each may be a real key, which must not be in a file. */
function unmarkedSecrets(scenario: Scenario): FieldProblem[] {
  const warnings: FieldProblem[] = [];
  for (const key of listedKeys(scenario)) {
    const { secret } = key.fields;
    if (secret === undefined || hasSandboxMark(secret)) continue;
    const message = `the secret of ${quote(key.ref)} has no ${sandboxMark} after its prefix, as every key of a sandbox has`;
    const hint = `if it is a real key, rotate it and remove it here. If not, write ${sandboxMark} there, or leave secret out and the seed makes one`;
    warnings.push({ code: "secret_unmarked", field: [...fieldOfKey(key), "secret"], message, hint });
  }
  return warnings.slice(0, maxWarnings);
}

/** The scopes that an endpoint requires and no key has: each of its requests gets 403. */
function unheldScopes(scenario: Scenario): FieldProblem[] {
  const held = scopesOfKeys(scenario);
  if (held.size === 0) return [];

  const warnings: FieldProblem[] = [];
  const warnIfUnheld = (field: FieldPath, scope: string | null | undefined) => {
    if (!scope || held.has(scope)) return;
    const near = nearest(scope, held);
    const hint = near === undefined ? "add it to the scopes of a key" : `did you mean ${near}?`;
    const message = `no key of this scenario has the scope ${quote(scope)}: each request gets 403`;
    warnings.push({ code: "scope_unheld", field, message, hint });
  };
  for (const [name, { scope }] of writtenEndpoints(scenario)) {
    warnIfUnheld(["endpoints", name, "scope"], scope);
  }
  // If the scenario does not write `me_scope`, a key without the scope of `/me` is on purpose: it shows the 403.
  warnIfUnheld(["assumptions", "me_scope"], scenario.assumptions?.me_scope);
  return warnings.slice(0, maxWarnings);
}

/** The scopes of all keys, also of those that a step creates. */
function scopesOfKeys(scenario: Scenario): ReadonlySet<string> {
  const written: (readonly string[] | undefined)[] = [];
  // The keys of a rotation share their scopes, whichever of them writes them.
  for (const { rotation } of positionsInRotations([...listedKeys(scenario)]).values()) {
    written.push(rotation.writtenSettings.scopes);
  }
  const { organizations, keysEach } = populationOf(scenario);
  if (organizations * keysEach > 0) written.push(undefined);
  const { timeline = [], story = [] } = scenario;
  for (const step of [...timeline, ...story]) {
    if (step.create_key !== undefined) written.push(step.create_key.scopes);
  }
  return new Set(written.flatMap((scopes) => scopes ?? defaultScopes));
}
