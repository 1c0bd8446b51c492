import type { Performed } from "../operations/perform-action.js";
import type { StoryAnswer, StoryStep } from "./story.js";

/** One thing that is not as the step expects it. */
export interface Difference {
  /** What of it, as in `status` or `body.data.usage.today`. */
  readonly at: string;
  /** As JSON; `nothing` stands for what must not be there. */
  readonly expected: string;
  readonly found: string;
}

type Expectation = NonNullable<StoryStep["expect"]>;

/** How an answer differs from what the step expects. */
export function answerDifferences(expected: Expectation, answer: StoryAnswer): Difference[] {
  const { status, code, path, headers = {}, body } = expected;
  const found = bodyOf(answer);
  const differences: Difference[] = [];
  const compare = (at: string, wanted: unknown, got: unknown) => {
    if (wanted !== undefined && wanted !== got) differences.push(difference(at, wanted, got));
  };
  compare("status", status, answer.status);
  compare("code", code, errorCodeIn(found) ?? null);
  // A fault that lets the answer through leaves it on its own path: both are met.
  if (path !== answer.fault)
    compare("path", path, answer.fault === null ? answer.pathId : bothPaths(answer, path));
  for (const [name, wanted] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    if (typeof wanted === "string") compare(`headers.${name}`, wanted, value);
    else if (wanted !== (value !== undefined)) {
      differences.push({
        at: `headers.${name}`,
        expected: wanted ? "a value" : nothing,
        found: shown(value),
      });
    }
  }
  if (body !== undefined) differences.push(...bodyDifferences("body", body, found));
  return differences;
}

/** How the outcome of an action differs from what the step expects; that it is done, when it says nothing. */
export function actionDifferences(expected: Expectation | undefined, { refusal }: Performed): Difference[] {
  const wanted = expected?.error;
  if (wanted === refusal?.code) return [];
  const found = refusal === null ? nothing : `${JSON.stringify(refusal.code)} (${refusal.message})`;
  return [{ at: "error", expected: shown(wanted), found }];
}

/** `error.code` of an answer; `null` when it has none. */
export function errorCodeOf(answer: StoryAnswer): string | null {
  const code = errorCodeIn(bodyOf(answer));
  return typeof code === "string" ? code : null;
}

const nothing = "nothing";

function bothPaths({ pathId, fault }: StoryAnswer, wanted: string | undefined): string | null {
  return wanted === pathId ? pathId : fault;
}

function difference(at: string, expected: unknown, found: unknown): Difference {
  return { at, expected: shown(expected), found: shown(found) };
}

// Of mappings what is named must be there, whatever else is: the API may add members at any time.
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
  try {
    return JSON.parse(body);
  } catch {
    return body === "" ? undefined : body;
  }
}

function errorCodeIn(body: unknown): unknown {
  return isMapping(body) && isMapping(body.error) ? body.error.code : null;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const longestShown = 300;

function shown(value: unknown): string {
  if (value === undefined) return nothing;
  const text = JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
