import { type StepDifference, type StoryResponse, type StoryStep, shownValue } from "../../sandbox/steps.js";
import type { FieldPath } from "../../schema/field-path.js";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";

type StepExpectation = NonNullable<StoryStep["expect"]>;

/** Compares a response with what a step expects: its status, error code, outcome, headers and body. */
export function responseDifferences(expected: StepExpectation, response: StoryResponse): StepDifference[] {
  const { outcome, fault } = response;
  const content = bodyValue(response);
  const differences: StepDifference[] = [];
  if (expected.status !== undefined && expected.status !== response.status) {
    differences.push(valueDifference(["status"], expected.status, response.status));
  }

  const code = errorCodeIn(content);
  if (expected.code !== undefined && expected.code !== code) {
    differences.push(valueDifference(["code"], expected.code, code));
  }

  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  const expectedOutcome = expected.outcome;
  if (expectedOutcome !== undefined && expectedOutcome !== outcome && expectedOutcome !== fault) {
    let foundOutcome = shownValue(outcome);
    if (fault !== null && fault !== outcome) foundOutcome += `, with ${fault}`;
    differences.push({ path: ["outcome"], expected: shownValue(expectedOutcome), found: foundOutcome });
  }

  for (const [name, expectedValue] of Object.entries(expected.headers ?? {})) {
    const value = ownMember(response.headers, name.toLowerCase());
    if (isExpectedHeader(expectedValue, value)) continue;
    differences.push({
      path: ["headers", name],
      expected: expectedHeaderInWords(expectedValue),
      found: shownValue(value),
    });
  }

  if (expected.body !== undefined) {
    differences.push(...bodyDifferences(["body"], expected.body, content));
  }
  return differences;
}

/** Whether a header is as expected: with this value, with any value (`true`), or not there (`false`). */
function isExpectedHeader(expected: string | boolean, value: string | undefined): boolean {
  const isThere = value !== undefined;
  if (typeof expected === "boolean") return isThere === expected;
  return value === expected;
}

function expectedHeaderInWords(expected: string | boolean): string {
  if (expected === true) return "a value";
  if (expected === false) return shownValue(undefined);
  return shownValue(expected);
}

/** Compares values of bodies. A mapping must contain the expected members and may contain others: the API may add members at any time. */
function bodyDifferences(path: FieldPath, expected: unknown, found: unknown): StepDifference[] {
  const differences: StepDifference[] = [];
  if (isMapping(expected)) {
    if (!isMapping(found)) return [valueDifference(path, expected, found)];
    for (const [name, member] of Object.entries(expected)) {
      differences.push(...bodyDifferences([...path, name], member, ownMember(found, name)));
    }
    return differences;
  }

  if (Array.isArray(expected)) {
    const isAsLong = Array.isArray(found) && found.length === expected.length;
    if (!isAsLong) return [valueDifference(path, expected, found)];
    for (const [index, item] of expected.entries()) {
      differences.push(...bodyDifferences([...path, index], item, found[index]));
    }
    return differences;
  }

  if (expected !== found) differences.push(valueDifference(path, expected, found));
  return differences;
}

/** A member of a mapping; `undefined` if it is missing. A name such as `constructor` is in every object, but is none of its own. */
function ownMember<Value>(mapping: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}

function valueDifference(path: FieldPath, expected: unknown, found: unknown): StepDifference {
  return { path, expected: shownValue(expected), found: shownValue(found) };
}

/** The error code in the body of a response; `null` without one. */
export function errorCodeOf(response: StoryResponse): string | null {
  const code = errorCodeIn(bodyValue(response));
  return typeof code === "string" ? code : null;
}

/** The body as a value; as its text if it is no JSON. */
function bodyValue({ body }: StoryResponse): unknown {
  const json = tryParseJson(body);
  if (json === undefined && body !== "") return body;
  return json;
}

/** The member `error.code` of a body, whatever it is; `null` without one. */
function errorCodeIn(body: unknown): unknown {
  if (!isMapping(body) || !isMapping(body.error)) return null;
  return body.error.code ?? null;
}
