import { me } from "../api/endpoints/me.js";
import { errorShape } from "../api/openapi.js";
import { mistakesIn } from "../spec/schema/check.js";
import { canonicalJson } from "../spec/schema/json.js";
import * as shape from "../spec/schema/shape.js";
import { isMapping } from "../spec/schema/shape.js";
import type { Attempt } from "./judge.js";
import { type CheckedResponse, memberAt, shownText } from "./response.js";

/** The names in a response, without values, for comparison with a later check. */
export type SeenResponse = ReturnType<typeof seenResponse>;

export function seenResponse({ pathId, endpoint = me }: Attempt, { status, headers, json }: CheckedResponse) {
  const names = new Set(headers.map(([name]) => shownText(name)));
  const undocumented = undocumentedIn(status < 400 ? endpoint.responseShape : errorShape, json).slice(0, 100);
  const details = status !== 200 && (memberAt({ json }, "error", "details") ? "present" : "absent");
  return { pathId, status, headers: [...names], undocumented, ...(details && { details }) };
}

// Skips the contents of undocumented members: names there may be data.
function undocumentedIn(of: shape.Shape, value: unknown, path = "$"): string[] {
  if (of.kind !== "mapping" || !isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const field = Object.hasOwn(of.fields, name) ? of.fields[name] : undefined;
    const at = `${path}.${name}`;
    return field === undefined ? [shownText(at)] : undocumentedIn(shape.shapeOf(field), member, at);
  });
}

/** Lists undocumented members, and headers that announce the end of the endpoint. */
export function notesOn(responses: readonly SeenResponse[]): string[] {
  const isEnd = (name: string) => /^(?:deprecation|sunset)$/i.test(name);
  const names = responses.flatMap(({ headers, undocumented }) => [...undocumented, ...headers.filter(isEnd)]);
  return [...new Set(names)].map((name) => `${name} is not in the contract.`);
}

const { list, openMapping, text } = shape;
const names = list(text());
const response = { status: shape.count(), headers: names, undocumented: names };
const checkShape = openMapping({
  verdict: shape.choice(["agrees", "differs"]),
  paths: list(openMapping({ path_id: text(), verdict: text(), got: shape.optional(text()) })),
  operations: shape.optional(
    list(openMapping({ operation: text(), verdict: text(), got: shape.optional(text()) })),
  ),
  responses: list(openMapping({ ...response, details: shape.optional(text()) })),
  differences: list(openMapping({ path_id: text(), at: text() })),
  learned: shape.record(shape.anything()),
});
type CheckJson = shape.ValueOf<typeof checkShape>;

/** Returns the JSON of a completed check; `undefined` for anything else. */
export function parseCheck(json: unknown): CheckJson | undefined {
  return mistakesIn(checkShape, json).length === 0 ? (json as CheckJson) : undefined;
}

/** Describes everything new since an earlier check. Ignores what only one of the two checks tried. */
export function newSince(earlier: CheckJson, now: CheckJson): string[] {
  const known = factsOf(earlier);
  const facts = factsOf(now).flatMap(([about, value]) => {
    const before = known.filter(([one]) => one === about).map(([, one]) => one);
    if (before.length === 0 || before.includes(value)) return [];
    return [`${about}: ${value}${before.length === 1 ? ` instead of ${shownText(before.join())}` : ""}`];
  });
  const differing = now.differences
    .filter(({ path_id, at }) => !earlier.differences.some((one) => one.path_id === path_id && one.at === at))
    .map(({ path_id, at }) => `${path_id}: ${at} differs from the contract`);
  return [...new Set([...facts, ...differing])];
}

type Fact = readonly [about: string, value: string];

function factsOf({ paths, operations = [], responses, learned }: CheckJson): Fact[] {
  const sent = [...paths, ...operations.map((one) => ({ ...one, path_id: one.operation }))];
  const tried = sent.filter(({ verdict }) => verdict !== "not_tried");
  return [
    ...tried.map(({ path_id, got = "" }) => [path_id, got] as const),
    ...responses.flatMap(({ status, details }) =>
      details === undefined ? [] : [[`${status} error.details`, details] as const],
    ),
    ...responses.flatMap(({ status, headers, undocumented }) =>
      [...headers.map((name) => name.toLowerCase()), ...undocumented].map(
        (one) => [`${status}`, one] as const,
      ),
    ),
    ...Object.entries(learned).map(([name, value]) => [name, canonicalJson(value)] as const),
  ];
}
