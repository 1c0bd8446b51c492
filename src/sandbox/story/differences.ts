import { isMapping, parsedJson } from "../../spec/schema/json.js";
import type { Path } from "../../spec/schema/shape.js";
import {
  type Difference,
  nothing,
  type StepResult,
  type StoryAnswer,
  type StoryStep,
  shown,
} from "../steps.js";

type Expectation = NonNullable<StoryStep["expect"]>;

/** Compares a response with a step's expectations. */
export function answerDifferences(expected: Expectation, answer: StoryAnswer): Difference[] {
  const { status, code, path, headers = {}, body } = expected;
  const found = bodyOf(answer);
  const differences: Difference[] = [];
  const compare = (at: string, wanted: unknown, got: unknown) => {
    if (wanted !== undefined && wanted !== got) differences.push(difference(at, wanted, got));
  };
  compare("status", status, answer.status);
  compare("code", code, errorCodeIn(found) ?? null);
  // A fault that only delays a response leaves its path id unchanged: either of the two matches.
  if (path !== answer.fault && path !== answer.pathId) compare("path", path, answer.fault ?? answer.pathId);
  for (const [name, wanted] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    if (typeof wanted === "string") compare(`headers.${name}`, wanted, value);
    else if (wanted !== (value !== undefined)) {
      const expected = wanted ? "a value" : nothing;
      differences.push({ at: `headers.${name}`, expected, found: shown(value) });
    }
  }
  if (body !== undefined) differences.push(...bodyDifferences("body", body, found));
  return differences;
}

/** Returns `error.code` of a response, or `null`. */
export function errorCodeOf(answer: StoryAnswer): string | null {
  const code = errorCodeIn(bodyOf(answer));
  return typeof code === "string" ? code : null;
}

/** A problem of a step, and the field of the scenario that it contradicts. */
export interface StepProblem {
  /** `status`, `body.data.usage.today`, …; `null` if the step could not run. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  readonly path: Path;
}

/** Lists the problems of a step: why it could not run, and every difference. */
export function stepProblems({ number, failure, differences }: StepResult): StepProblem[] {
  const step = ["story", number - 1];
  const problems: StepProblem[] = [];
  if (failure !== null) {
    problems.push({ at: null, expected: null, found: null, message: failure.message, path: step });
  }
  for (const { at, expected, found } of differences) {
    const message = `${at}: expected ${expected}, found ${found}`;
    problems.push({ at, expected, found, message, path: pathOf(at, step) });
  }
  return problems;
}

// A member name with a dot cannot be followed; the path then leads to its parent.
function pathOf(at: string, step: Path): Path {
  const header = /^headers\.(.*)$/s.exec(at);
  if (header !== null) return [...step, "expect", "headers", header[1] as string];
  const parts = at.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== "");
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [first, index = 0, ...rest] = path;
  return first === "timeline" ? ["timeline", index, "expect", ...rest] : [...step, "expect", ...path];
}

function difference(at: string, expected: unknown, found: unknown): Difference {
  return { at, expected: shown(expected), found: shown(found) };
}

// A mapping must contain the expected members and may contain others: the API may add members at any time.
function bodyDifferences(at: string, expected: unknown, found: unknown): Difference[] {
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

function bodyOf({ body }: StoryAnswer): unknown {
  const json = parsedJson(body);
  return json === undefined && body !== "" ? body : json;
}

function errorCodeIn(body: unknown): unknown {
  return isMapping(body) && isMapping(body.error) ? body.error.code : null;
}
