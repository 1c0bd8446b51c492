import {
  type Answer,
  describeBody,
  type Exchange,
  headerOf,
  isObject,
  memberAt,
  quoted,
  shown,
} from "./answer.js";
import { type CheckedRule, isDifference, type Observation } from "./rules.js";

/** Compares the 200 answers, in the order in which they came, with one another. */
export function compareSuccesses(successes: readonly Exchange[]): Observation[] {
  return [...compareRequestIds(successes), ...compareUsage(successes), ...compareLimits(successes)];
}

function compareRequestIds(successes: readonly Exchange[]): Observation[] {
  const seen = new Set<string>();
  return successes.flatMap(({ probe: { pathId }, answer }): Observation[] => {
    const id = headerOf(answer, "x-request-id") ?? "";
    if (id === "") return [];
    const isNew = !seen.has(id);
    seen.add(id);
    const expected = "another request id than that of an earlier answer";
    return isNew
      ? []
      : [{ rules: ["R7"], pathId, at: "X-Request-Id", expected, found: `${shown(id)} again` }];
  });
}

// Two requests with the same key, one after the other.
function compareUsage(successes: readonly Exchange[]): Observation[] {
  const seen = new Map<string, number>();
  const rules: CheckedRule[] = ["R6", "R24"];
  return successes.flatMap(({ probe: { apiKey = "", pathId }, answer }): Observation[] => {
    const today = memberAt(answer, "data", "usage", "today");
    if (typeof today !== "number") return [];
    const before = seen.get(apiKey);
    seen.set(apiKey, today);
    // Another day may have begun between the two.
    if (before === undefined || (today === 1 && before > 1)) return [];
    if (today === before + 1) return [{ rules, pathId }];
    const hint = today > before ? "; does another client use this key meanwhile?" : "";
    const expected = `${before + 1}, one more than in the answer before`;
    return [{ rules, pathId, at: "$.data.usage.today", expected, found: `${today}${hint}` }];
  });
}

function compareLimits(successes: readonly Exchange[]): Observation[] {
  const pathId = "200.replacement";
  const rules: CheckedRule[] = ["R26"];
  const [old, replacement] = ["200.retiring", pathId].map((path) =>
    successes.find(({ probe }) => probe.pathId === path),
  );
  if (old === undefined || replacement === undefined) return [];
  const differences = ["per_minute", "per_day"].flatMap((name) => {
    const [before, after] = [old, replacement].map(({ answer }) => memberAt(answer, "data", "limits", name));
    if (before === after) return [];
    const expected = shown(`${JSON.stringify(before)}, as for 200.retiring`);
    const found = shown(`${JSON.stringify(after)}`);
    return [{ rules, pathId, at: `$.data.limits.${name}`, expected, found } as const];
  });
  return differences.length === 0 ? [{ rules, pathId }] : differences;
}

/** The 401 answers compared with one another. */
export interface Comparison {
  readonly observations: readonly Observation[];
  /** Whether one more answer to the first request would show if the reason makes the others differ. */
  readonly wantsControl: boolean;
  /** Whether answers to one and the same request differ in which headers and members they have. */
  readonly varyByThemselves: boolean;
}

/** The most repetitions of the first request. */
const mostControls = 3;

/**
 * Compares the 401 answers with the first of them: a rejected key never learns why (R14).
 *
 * Real answers also differ in ways that have nothing to do with the reason, such as a trace id. `controls` are further
 * answers to the first request; differences among those reveal nothing.
 */
export function compareRejections(rejections: readonly Exchange[], controls: readonly Answer[]): Comparison {
  const [reference, ...others] = rejections;
  if (reference === undefined) return { observations: [], wantsControl: false, varyByThemselves: false };
  const varying = controls.map((control) => contrasts(reference.answer, control));
  const varyByThemselves = varying.flat().some(({ kind }) => kind === "form");
  const reveals = revealsReason(varying.flat());
  const rules: CheckedRule[] = ["R14"];
  const observations = others.flatMap(({ probe: { pathId }, answer }): Observation[] => {
    const found = contrasts(reference.answer, answer).filter(reveals);
    if (found.length === 0) return [{ rules, pathId }];
    return found.map(({ at, one, other }) => ({
      rules,
      pathId,
      at,
      expected: `${one}, as for ${reference.probe.pathId}`,
      found: other,
    }));
  });
  // A single identical answer shows that answers do not vary by themselves; varying ones vary in more ways than one shows.
  const isSettled = controls.length >= mostControls || varying.some((found) => found.length === 0);
  const wantsControl = !isSettled && (varyByThemselves || observations.some(isDifference));
  return { observations, wantsControl, varyByThemselves };
}

// Where members or headers come and go by themselves, so may all that is not promised: only the code is.
function revealsReason(varying: readonly Contrast[]): (contrast: Contrast) => boolean {
  const innocent = new Set(varying.map(({ at }) => at));
  const formVaries = varying.some(({ kind }) => kind === "form");
  const membersVary = varying.some(({ kind, inBody, at }) => kind === "form" && inBody && at !== "body");
  return ({ at, kind, inBody }) => {
    if (innocent.has(at)) return false;
    if (at === "$.error.code") return true;
    return inBody && kind === "value" ? !membersVary : !formVaries;
  };
}

/** A place where two answers differ. */
interface Contrast {
  /** `body`, `headers`, the name of a header, or the JSON path of a member. */
  readonly at: string;
  /** `form`: which members and headers there are and how they are written; `value`: that of one that both answers have. */
  readonly kind: "form" | "value";
  readonly inBody: boolean;
  readonly one: string;
  readonly other: string;
}

/** Returns the places where two answers of one status differ; the request id and the date may. */
function contrasts(one: Answer, other: Answer): Contrast[] {
  const bodiesDiffer = one.text !== other.text;
  return [...(bodiesDiffer ? bodyContrasts(one, other) : []), ...headerContrasts(one, other, bodiesDiffer)];
}

function bodyContrasts(one: Answer, other: Answer): Contrast[] {
  const inBody = true;
  const whole = (kind: Contrast["kind"], describe: (answer: Answer) => string): Contrast[] => [
    { at: "body", kind, inBody, one: describe(one), other: describe(other) },
  ];
  if (one.json === undefined || other.json === undefined) {
    return whole("value", (answer) => (answer.json === undefined ? describeBody(answer) : "JSON"));
  }
  const [mine, theirs] = [membersOf(one), membersOf(other)];
  const members = [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((at): Contrast[] => {
    const values = [mine.get(at), theirs.get(at)] as const;
    if (values[0] === values[1]) return [];
    const [first, second] = values.map((json) => (json === undefined ? "nothing" : shown(json)));
    return [{ at: shown(at), kind: kindOf(values), inBody, one: first as string, other: second as string }];
  });
  return members.length > 0 ? members : whole("form", ({ text = "" }) => quoted(text));
}

function kindOf(values: readonly (string | undefined)[]): Contrast["kind"] {
  return values.includes(undefined) ? "form" : "value";
}

// The members of the body and of its `error`, each as JSON that does not depend on the order of members.
function membersOf(answer: Answer): Map<string, string> {
  const error = memberAt(answer, "error");
  const inError = isObject(error)
    ? Object.entries(error).map(([name, value]) => [`$.error.${name}`, value])
    : [];
  const others = isObject(answer.json)
    ? Object.entries(answer.json)
        .filter(([name]) => name !== "error" || !isObject(error))
        .map(([name, value]) => [`$.${name}`, value])
    : [["$", answer.json]];
  return new Map([...inError, ...others].map(([at, value]) => [at as string, sortedJson(value)]));
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

// The presence of these is compared, but not their values.
const freeValues = new Set(["date", "x-request-id"]);
// These follow from the body.
const derivedFromBody = new Set(["content-length", "etag"]);

function headerContrasts(one: Answer, other: Answer, bodiesDiffer: boolean): Contrast[] {
  const inBody = false;
  const [mine, theirs] = [one, other].map(({ headers }) => headers.map(([name]) => name)) as [
    string[],
    string[],
  ];
  const names = new Set([...mine, ...theirs].map((name) => name.toLowerCase()));
  const found = [...names].flatMap((name): Contrast[] => {
    const values = [headerOf(one, name), headerOf(other, name)] as const;
    const kind = kindOf(values);
    if (values[0] === values[1] || (bodiesDiffer && derivedFromBody.has(name))) return [];
    if (kind === "value" && freeValues.has(name)) return [];
    const at = [...theirs, ...mine].find((written) => written.toLowerCase() === name) ?? name;
    const [first, second] = values.map((value) => (value === undefined ? "no such header" : quoted(value)));
    return [{ at: shown(at), kind, inBody, one: first as string, other: second as string }];
  });
  const [first, second] = [mine.join(", "), theirs.join(", ")];
  if (found.some(({ kind }) => kind === "form") || first === second) return found;
  return [...found, { at: "headers", kind: "form", inBody, one: shown(first), other: shown(second) }];
}
