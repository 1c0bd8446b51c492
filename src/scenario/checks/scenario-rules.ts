import { lastClockInstant } from "../../rules/key-state.js";
import { parseApiKey, prefixOf } from "../../rules/keys/key-text.js";
import { pathWithoutParameterNames } from "../../rules/paths.js";
import { parseTime } from "../../rules/time.js";
import { isPlaceholder } from "../../schema/describe.js";
import type { FieldPath } from "../../schema/shape.js";
import { quote } from "../../schema/words.js";
import { isReserved, scenarioLimits } from "../format/fields.js";
import { fieldOfKey, isLegacy, populatedKind, populationOf, writtenEndpoints } from "../keys.js";
import type { FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { checkDuplicates } from "./duplicate-values.js";
import { faultsAreRight } from "./fault-rules.js";
import { keyRules } from "./key-rules.js";
import { checkRef, type RuleInput, ruleInputOf, type ScenarioRule } from "./rule-input.js";
import { problemsAtStart } from "./start-rules.js";
import { stepsArePossible } from "./step-rules.js";

/** The scenario has an organization. */
const organizationExists: ScenarioRule = ({ scenario, problems }) => {
  const listed = Object.keys(scenario.organizations ?? {});
  if (listed.length > 0 || populationOf(scenario).organizations > 0) return;
  const message = "the scenario has no organization";
  const hint = "add one: organizations: { harvest-bank: { type: bank } }";
  problems.add("no_organizations", ["organizations"], message, hint, "name");
};

/** Each ref of an organization or a key is unique, none of the population's, and no word of stories. */
const refsAreUniqueAndAllowed: ScenarioRule = (input) => {
  const { scenario, keys, keyOf, problems } = input;
  for (const ref of Object.keys(scenario.organizations ?? {})) {
    checkNotPopulated(ref, ["organizations", ref], input);
  }

  for (const key of keys) {
    const { ref } = key;
    const field = fieldOfKey(key);
    checkNotPopulated(ref, field, input);
    if (isReserved(ref)) {
      const message = `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`;
      problems.add("reserved_key_ref", field, message, `call it ${ref}-key`, "name");
    }

    const first = keyOf(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    problems.add("duplicate_key_ref", field, message, hint, "name");
  }
};

function checkNotPopulated(ref: string, field: FieldPath, { scenario, problems }: RuleInput): void {
  if (populatedKind(ref, scenario.population) === undefined) return;
  const message = `the population has the ref ${quote(ref)}`;
  const hint = "choose another one: the population uses organization-1, organization-1-key-1 and so on";
  problems.add("taken_by_population", field, message, hint, "name");
}

/** The default key and each replacement exist. */
const refsExist: ScenarioRule = ({ scenario, keys, refs, problems }) => {
  checkRef("key", scenario.default_key, ["default_key"], refs, problems);
  for (const key of keys) {
    checkRef("key", key.fields.replaced_by, [...fieldOfKey(key), "replaced_by"], refs, problems);
  }
};

const refRules: readonly ScenarioRule[] = [organizationExists, refsAreUniqueAndAllowed, refsExist];

// The other rules compare keys and endpoints with each other: with too many of them, this would take long.

/** A scenario's keys fit in memory. */
const keysWithinMaximum: ScenarioRule = ({ scenario, keys, problems }) => {
  const { organizations, keysEach } = populationOf(scenario);
  const populated = organizations * keysEach;
  const count = populated + keys.length;
  if (count <= scenarioLimits.keys) return;

  let field = "organizations";
  let hint = "remove keys";
  if (populated > 0) {
    field = "population";
    hint = "lower population.organizations or population.keys_per_organization";
  }
  problems.add(
    "too_many_keys",
    [field],
    `the scenario has ${count} keys; the maximum is ${scenarioLimits.keys}`,
    hint,
  );
};

const maxEndpoints = 100;

const endpointsWithinMaximum: ScenarioRule = ({ scenario, problems }) => {
  const count = writtenEndpoints(scenario).length;
  if (count <= maxEndpoints) return;
  const message = `the scenario has ${count} endpoints, and at most ${maxEndpoints} are allowed`;
  problems.add("out_of_range", ["endpoints"], message, "remove some", "name");
};

const sizeRules: readonly ScenarioRule[] = [keysWithinMaximum, endpointsWithinMaximum];

/** The clock can still move after its start. */
const clockIsWithinYears: ScenarioRule = ({ scenario, problems }) => {
  const start = parseTime(scenario.clock?.now ?? "");
  if (start === undefined || start <= lastClockInstant) return;
  const message = `a clock cannot start after ${new Date(lastClockInstant).toISOString()}`;
  problems.add("out_of_range", ["clock", "now"], message, "write an earlier time");
};

/** What depends on the start of the clock fits together (`start-rules.ts`). */
const startIsPossible: ScenarioRule = ({ scenario, start, problems }) => {
  const startsAt = parseTime(scenario.clock?.now ?? "") ?? start;
  if (startsAt === undefined) return;
  for (const problem of problemsAtStart(scenario, startsAt)) problems.addAt([], problem);
};

/** A pinned secret or id is unique (R12); a secret is well-formed and agrees with the key's fields (R3, R10, R16). */
const secretsMatchKeys: ScenarioRule = ({ scenario, keys, problems }) => {
  checkDuplicates(scenario, problems);

  for (const key of keys) {
    const { fields } = key;
    const keyField = fieldOfKey(key);
    const { secret, environment } = fields;
    if (secret === undefined) continue;
    const parsed = parseApiKey(secret);
    const prefix = prefixOf(environment, isLegacy(fields));
    if (parsed === undefined) {
      const message = "the secret is not a well-formed key (R10)";
      let hint = `start it with ${prefix}, followed by letters, digits, _ and -`;
      if (isPlaceholder(secret)) {
        hint = "variables are not replaced here: write the key, or leave secret out and the seed makes one";
      }
      problems.add("secret_malformed", [...keyField, "secret"], message, hint);
    } else if (parsed.prefix !== prefix) {
      const message = `the secret starts with ${parsed.prefix}, but environment and legacy require ${prefix}`;
      const hint = `start it with ${prefix} (R3, R16), or change the other fields`;
      problems.add("secret_mismatch", [...keyField, "secret"], message, hint);
    }
  }
};

/** A scenario removes only inherited endpoints. */
const removedEndpointsExist: ScenarioRule = ({ scenario, problems }) => {
  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    // Merging with the extended scenario has taken out each `null` that removes something.
    if (endpoint !== null) continue;
    const message = `${quote(name)} removes nothing: no extended scenario has this endpoint`;
    const hint = "write an endpoint, or remove the line";
    problems.add("endpoint_contradiction", ["endpoints", name], message, hint, "name");
  }
};

/** No two endpoints have the same method and path, whatever their parameters are called. */
const endpointsAreApart: ScenarioRule = ({ scenario, problems }) => {
  const nameByTarget = new Map<string, string>();
  for (const [name, { method = "GET", path }] of writtenEndpoints(scenario)) {
    const target = `${method} ${pathWithoutParameterNames(path)}`;
    const first = nameByTarget.get(target);
    if (first === undefined) {
      nameByTarget.set(target, name);
      continue;
    }
    const message = `${quote(first)} already responds to ${method} ${path}`;
    const hint = "write another path or method, or remove one";
    problems.add("endpoint_contradiction", ["endpoints", name, "path"], message, hint);
  }
};

/** In bytes, as JSON. */
const longestBody = 64 * 1024;

/** A 204 has no body, and any other one is not too long. */
const bodiesAreAllowed: ScenarioRule = ({ scenario, problems }) => {
  for (const [name, { body, status }] of writtenEndpoints(scenario)) {
    if (body === undefined) continue;
    const field = ["endpoints", name, "body"];
    if (status === 204) {
      const message = "a 204 has no body";
      const hint = "remove the body (below extends, with body: null), or write status: 200";
      problems.add("endpoint_contradiction", field, message, hint);
    } else if (jsonLength(body) > longestBody) {
      const message = `the body is longer than ${longestBody / 1024} KiB as JSON`;
      problems.add("endpoint_contradiction", field, message, "shorten it; aliases (*) repeat");
    }
  }
};

/** The bytes of a part as JSON. Aliases can repeat a text a thousand times: what is too long is not counted to its end. */
function jsonLength(part: unknown): number {
  if (typeof part !== "object" || part === null) return new TextEncoder().encode(JSON.stringify(part)).length;

  const brackets = 2;
  let length = brackets;
  for (const [name, inner] of Object.entries(part)) {
    const comma = length === brackets ? 0 : 1;
    length += comma + jsonLength(inner);
    // An item of a list has no name.
    if (!Array.isArray(part)) length += jsonLength(name) + ":".length;
    if (length > longestBody) break;
  }
  return length;
}

const endpointRules: readonly ScenarioRule[] = [removedEndpointsExist, endpointsAreApart, bodiesAreAllowed];

/** The rules of a scenario. Those of a stage rely on all stages before: they run only if these found no problem. */
const stages: readonly (readonly ScenarioRule[])[] = [
  // The scenario is not too large to be compared.
  sizeRules,
  // The fields of each thing agree, and each ref is that of one thing.
  [
    ...refRules,
    clockIsWithinYears,
    startIsPossible,
    ...keyRules.ofKeys,
    secretsMatchKeys,
    ...endpointRules,
    stepsArePossible,
  ],
  // Each key has at most one replacement and replaces at most one key, without circles.
  keyRules.ofReplacements,
  [...keyRules.ofRotations, faultsAreRight],
];

/** Compares the fields of a scenario that has its shape, and finds the rules that it breaks. `start`: as `interpretScenario` has it. */
export function checkRules(scenario: Scenario, start: number | undefined): readonly FieldProblem[] {
  const input = ruleInputOf(scenario, start);
  const { problems } = input;
  for (const rules of stages) {
    for (const rule of rules) rule(input);
    if (problems.found.length > 0) break;
  }
  return problems.found;
}
