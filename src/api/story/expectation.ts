import { parsedJson } from "../../rules/schema/json.js";
import { type FieldPath, isMapping } from "../../rules/schema/shape.js";
import {
  type PlayedStep,
  type StepDifference,
  type StoryResponse,
  type StoryStep,
  shownValue,
} from "../../sandbox/step-results.js";

type StepExpectation = NonNullable<StoryStep["expect"]>;

export function responseDifferences(expected: StepExpectation, response: StoryResponse): StepDifference[] {
  const { status, code, outcome: wantedOutcome, headers = {}, body } = expected;
  const content = parsedBody(response);
  const differences: StepDifference[] = [];
  const compare = (at: string, wanted: unknown, got: unknown) => {
    if (wanted !== undefined && wanted !== got) differences.push(difference(at, wanted, got));
  };
  compare("status", status, response.status);
  compare("code", code, errorCodeIn(content) ?? null);
  const { outcome, fault } = response;
  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  if (wantedOutcome !== undefined && wantedOutcome !== fault && wantedOutcome !== outcome) {
    const beside = fault === null || fault === outcome ? "" : `, with ${fault}`;
    differences.push({
      at: "outcome",
      expected: shownValue(wantedOutcome),
      found: `${shownValue(outcome)}${beside}`,
    });
  }
  for (const [name, wanted] of Object.entries(headers)) {
    const value = response.headers[name.toLowerCase()];
    if (typeof wanted === "string") compare(`headers.${name}`, wanted, value);
    else if (wanted !== (value !== undefined)) {
      const expected = wanted ? "a value" : shownValue(undefined);
      differences.push({ at: `headers.${name}`, expected, found: shownValue(value) });
    }
  }
  if (body !== undefined) differences.push(...bodyDifferences("body", body, content));
  return differences;
}

export function errorCodeOf(response: StoryResponse): string | null {
  const code = errorCodeIn(parsedBody(response));
  return typeof code === "string" ? code : null;
}

/** How a step differs from its expectation, and the field of the scenario that it contradicts. */
export interface Difference {
  /** `status`, `body.data.usage.today`, …; `null` if the step could not run. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  readonly field: FieldPath;
}

export function differencesOf({ number, failure, differences }: PlayedStep): Difference[] {
  const step = ["story", number - 1];
  const ofStep = differences.map(({ at, expected, found }): Difference => {
    const message = `${at}: expected ${expected}, found ${found}`;
    return { at, expected, found, message, field: requestTarget(at, step) };
  });
  if (failure === null) return ofStep;
  return [{ at: null, expected: null, found: null, message: failure.message, field: step }, ...ofStep];
}

// A member name with a dot cannot be followed; the path then leads to its parent.
function requestTarget(at: string, step: FieldPath): FieldPath {
  const header = /^headers\.(.*)$/s.exec(at);
  if (header !== null) return [...step, "expect", "headers", header[1] as string];
  const parts = at.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== "");
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [first, index = 0, ...rest] = path;
  return first === "timeline" ? ["timeline", index, "expect", ...rest] : [...step, "expect", ...path];
}

function difference(at: string, expected: unknown, found: unknown): StepDifference {
  return { at, expected: shownValue(expected), found: shownValue(found) };
}

// A mapping must contain the expected members and may contain others: the API may add members at any time.
function bodyDifferences(at: string, expected: unknown, found: unknown): StepDifference[] {
  if (isMapping(expected)) {
    if (!isMapping(found)) return [difference(at, expected, found)];
    return Object.entries(expected).flatMap(([name, member]) =>
      bodyDifferences(`${at}.${name}`, member, Object.hasOwn(found, name) ? found[name] : undefined),
    );
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return [difference(at, expected, found)];
    return expected.flatMap((item, index) => bodyDifferences(`${at}[${index}]`, item, found[index]));
  }
  return expected === found ? [] : [difference(at, expected, found)];
}

function parsedBody({ body }: StoryResponse): unknown {
  const json = parsedJson(body);
  return json === undefined && body !== "" ? body : json;
}

function errorCodeIn(body: unknown): unknown {
  return isMapping(body) && isMapping(body.error) ? body.error.code : null;
}
