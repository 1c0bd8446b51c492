import { isMapping } from "../spec/schema/shape.js";
import { type CheckedResponse, describeBody, headerOf, memberAt, quoted, shownText } from "./answer.js";
import type { CheckedRule, ContractDifference } from "./contract.js";
import type { AnsweredAttempt } from "./judge.js";

/** Compares the 200 responses with each other, in order. */
export function compareSuccesses(successes: readonly AnsweredAttempt[]): ContractDifference[] {
  return [...compareRequestIds(successes), ...compareUsage(successes), ...compareLimits(successes)];
}

function compareRequestIds(successes: readonly AnsweredAttempt[]): ContractDifference[] {
  const ids = successes.map(({ answer }) => headerOf(answer, "x-request-id") ?? "");
  return successes.flatMap(({ pathId }, index) => {
    const id = ids[index] as string;
    if (id === "" || ids.indexOf(id) === index) return [];
    const expected = "a request id that no earlier response has";
    return [{ rules: ["R7"], pathId, at: "X-Request-Id", expected, found: `${shownText(id)} again` }];
  });
}

// Compares consecutive requests with the same key.
function compareUsage(successes: readonly AnsweredAttempt[]): ContractDifference[] {
  const seen = new Map<string, number>();
  const rules: CheckedRule[] = ["R6", "R24"];
  return successes.flatMap(({ apiKey = "", pathId, answer }) => {
    const today = memberAt(answer, "data", "usage", "today");
    if (typeof today !== "number") return [];
    const before = seen.get(apiKey);
    seen.set(apiKey, today);
    // A new day may have started in between.
    if (before === undefined || (today === 1 && before > 1) || today === before + 1) return [];
    const hint = today > before ? "; does another client use this key?" : "";
    const expected = `${before + 1}, one more than in the response before`;
    return [{ rules, pathId, at: "$.data.usage.today", expected, found: `${today}${hint}` }];
  });
}

function compareLimits(successes: readonly AnsweredAttempt[]): ContractDifference[] {
  const pathId = "200.replacement";
  const rules: CheckedRule[] = ["R26"];
  const [old, replacement] = ["200.retiring", pathId].map((path) =>
    successes.find((success) => success.pathId === path),
  );
  if (old === undefined || replacement === undefined) return [];
  return ["per_minute", "per_day"].flatMap((name) => {
    const [before, after] = [old, replacement].map(({ answer }) => memberAt(answer, "data", "limits", name));
    if (before === after) return [];
    const expected = shownText(`${JSON.stringify(before)}, as for 200.retiring`);
    return [
      { rules, pathId, at: `$.data.limits.${name}`, expected, found: shownText(`${JSON.stringify(after)}`) },
    ];
  });
}

/** A rejected request and every response to it: the first one, then its repetitions. */
export type Rejection = AnsweredAttempt & { readonly answers: CheckedResponse[] };

/** How often both causes are repeated before a difference is reported. */
export const leastRepetitions = 5;

/**
 * Compares the 401 responses with the first one: a 401 must not reveal why the key was rejected (R14).
 *
 * Real responses also differ for other reasons, such as a trace id or the name of a node. So a difference is only reported
 * after repetitions; until then, its request is a suspect.
 */
export function compareRejections(rejections: readonly Rejection[]) {
  const [reference, ...others] = rejections;
  const rules: CheckedRule[] = ["R14"];
  const suspects: Rejection[] = [];
  const differences = others.flatMap((rejection) => {
    const { pathId, answers } = rejection;
    const found = followingCause(reference?.answers ?? [], answers);
    if (found.length === 0) return [];
    suspects.push(rejection);
    if (answers.length <= leastRepetitions) return [];
    return found.map(({ at, one, other }) => {
      return { rules, pathId, at, expected: `${one}, as for ${reference?.pathId}`, found: other };
    });
  });
  return {
    differences,
    suspects,
    unsettled: suspects.filter(({ answers }) => answers.length <= leastRepetitions),
    /** What differs in responses to the same request. */
    noise: rejections.flatMap(({ answers }) => noiseIn(answers)),
  };
}

/** Returns the contrasts in every pair of responses, unless both causes get varying responses there. */
function followingCause(
  reference: readonly CheckedResponse[],
  other: readonly CheckedResponse[],
): Contrast[] {
  const pairs = reference.flatMap((one) => other.map((another) => contrasts(one, another)));
  const noise = [reference, other].map(noiseIn);
  const isIn =
    ({ at }: Contrast) =>
    (found: readonly Contrast[]) =>
      found.some((one) => one.at === at);
  return (pairs[0] ?? []).filter((one) => pairs.every(isIn(one)) && !noise.every(isIn(one)));
}

function noiseIn([first, ...more]: readonly CheckedResponse[]): Contrast[] {
  return first === undefined ? [] : more.flatMap((one) => contrasts(first, one));
}

interface Contrast {
  /** `body`, `headers`, a header's name, or a member's JSON path. */
  readonly at: string;
  /** Whether the difference is the presence or form of members and headers, not a value. */
  readonly isForm: boolean;
  readonly one: string;
  readonly other: string;
}

/** Returns the places where two responses with the same status differ, except the request id and the date. */
function contrasts(one: CheckedResponse, other: CheckedResponse): Contrast[] {
  const bodiesDiffer = one.text !== other.text;
  return [...(bodiesDiffer ? bodyContrasts(one, other) : []), ...headerContrasts(one, other, bodiesDiffer)];
}

function bodyContrasts(one: CheckedResponse, other: CheckedResponse): Contrast[] {
  const isJson = one.json !== undefined && other.json !== undefined;
  const partsOf = (answer: CheckedResponse): Parts =>
    isJson ? membersOf(answer.json) : [["body", answer.json === undefined ? describeBody(answer) : "JSON"]];
  const found = partsThatDiffer(partsOf(one), partsOf(other), "nothing", shownText);
  if (found.length > 0) return found;
  return [{ at: "body", isForm: true, one: quoted(one.text ?? ""), other: quoted(other.text ?? "") }];
}

// Only the presence of these is compared, not the value.
const freeValues = new Set(["date", "x-request-id"]);
// These depend on the body.
const derivedFromBody = new Set(["content-length", "etag"]);

function headerContrasts(one: CheckedResponse, other: CheckedResponse, bodiesDiffer: boolean): Contrast[] {
  const all = partsThatDiffer(one.headers, other.headers, "no such header", quoted);
  const found = all.filter(({ at, isForm }) => {
    const name = at.toLowerCase();
    return (isForm || !freeValues.has(name)) && !(bodiesDiffer && derivedFromBody.has(name));
  });
  const [first = "", second = ""] = [one, other].map(({ headers }) =>
    headers.map(([name]) => name).join(", "),
  );
  if (found.some(({ isForm }) => isForm) || first === second) return found;
  return [...found, { at: "headers", isForm: true, one: shownText(first), other: shownText(second) }];
}

type Parts = readonly (readonly [at: string, value: string])[];

function membersOf(json: unknown, at = "$"): [string, string][] {
  if (!isMapping(json)) return [[at, JSON.stringify(json)]];
  return Object.entries(json).flatMap(([name, value]) =>
    at === "$" && name === "error" ? membersOf(value, "$.error") : [[`${at}.${name}`, JSON.stringify(value)]],
  );
}

/** Returns the differing parts. `absent` describes a missing part, and `show` formats a part. */
function partsThatDiffer(one: Parts, other: Parts, absent: string, show: (value: string) => string) {
  const [mine, theirs] = [valuesOf(one), valuesOf(other)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((at): Contrast[] => {
    const [first, second] = [mine.get(at), theirs.get(at)];
    if (first === second) return [];
    const words = (value: string | undefined) => (value === undefined ? absent : show(value));
    const isForm = first === undefined || second === undefined;
    return [{ at: shownText(at), isForm, one: words(first), other: words(second) }];
  });
}

/** Returns the value of each part, with values of the same name joined by `, `. */
function valuesOf(parts: Parts): Map<string, string> {
  const values = new Map<string, string>();
  for (const [at, value] of parts) values.set(at, values.has(at) ? `${values.get(at)}, ${value}` : value);
  return values;
}
