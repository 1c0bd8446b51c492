import { me } from "../api/endpoints/me.js";
import { errorSchema } from "../api/openapi.js";
import { type ApiErrorCode, outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import {
  type Answer,
  type Attempt,
  describeBody,
  describeValue,
  type Exchange,
  headerOf,
  isNoAnswer,
  memberAt,
  type Probe,
  quoted,
  shown,
} from "./answer.js";
import { keyPrefixOf, ruleOf } from "./keys.js";
import { mismatches } from "./match-schema.js";
import type { CheckedRule, Difference, Observation } from "./rules.js";

/** An observation before its path and request id are added. */
type Judgement = { readonly rules: readonly CheckedRule[] } | Omit<Difference, "pathId">;

/** Compares the reply to an attempt with what the contract says of its path. */
export function judgeAttempt({ probe, reply, reason, difference }: Attempt): Observation[] {
  const { pathId } = probe;
  if (difference !== undefined) return [difference];
  if (reply === undefined || reason !== undefined) return [];
  if (!isNoAnswer(reply)) return whyUntried(pathId, reply) === undefined ? judgeAnswer(probe, reply) : [];
  const rules = [ruleOf(pathId)];
  return [{ rules, pathId, at: "connection", expected: "an answer", found: reply.found }];
}

/** Returns why an answer says nothing about its path; `undefined` when it does. */
export function whyUntried(pathId: PathId, { status }: Answer): string | undefined {
  const { status: expected } = outcomeOf(pathId);
  // An unknown key has no limits, so that a 429 to one is judged.
  if (status === 429 && (expected === 200 || expected === 403)) {
    return "a limit was met instead; try again later";
  }
  // The scope that the endpoint needs is not shown, so it may need none.
  const isPermitted = pathId === "403.insufficient_scope" && status === 200;
  return isPermitted ? "the endpoint needs no scope, or this key has it" : undefined;
}

/** Returns the answers of attempts; a limit that was met instead still teaches what a 429 looks like. */
export function exchangesOf(attempts: readonly Attempt[]): Exchange[] {
  return attempts.flatMap(({ probe, reply }) => {
    if (reply === undefined || isNoAnswer(reply)) return [];
    const isLimited = reply.status === 429 && whyUntried(probe.pathId, reply) !== undefined;
    return [{ probe: isLimited ? { ...probe, pathId: "429.per_minute" } : probe, answer: reply }];
  });
}

function judgeAnswer(probe: Probe, answer: Answer): Observation[] {
  const { pathId } = probe;
  const requestId = headerOf(answer, "x-request-id");
  const id = requestId === undefined || requestId === "" ? {} : { requestId: shown(requestId) };
  return [...judgeSecrecy(probe, answer), ...judgeOutcome(probe, answer)].map((judgement) =>
    "found" in judgement ? { pathId, ...judgement, ...id } : { pathId, ...judgement },
  );
}

function judgeSecrecy({ apiKey }: Probe, { repeatsKeyAt }: Answer): Judgement[] {
  const repeated = { rules: ["R34"], expected: "no key", found: "the key that was sent" } as const;
  if (repeatsKeyAt.length > 0) return repeatsKeyAt.map((at) => ({ ...repeated, at }));
  return apiKey === undefined ? [] : [{ rules: ["R34"] }];
}

function judgeOutcome(probe: Probe, answer: Answer): Judgement[] {
  const { status } = outcomeOf(probe.pathId);
  const rule = ruleOf(probe.pathId);
  if (answer.status !== status) {
    return [{ rules: [rule], at: "status", expected: String(status), found: describeOutcome(answer) }];
  }
  const isJson = answer.json !== undefined;
  if (status !== 200) {
    return [...judgeForm(answer, "R27"), ...(isJson ? judgeError(probe.pathId, answer) : [])];
  }
  return [...judgeForm(answer, "R1"), ...(isJson ? judgeContext(probe, answer) : []), judgeRequestId(answer)];
}

function describeOutcome(answer: Answer): string {
  const { status } = answer;
  const code = memberAt(answer, "error", "code");
  const location = headerOf(answer, "location");
  if (typeof code === "string") return `${status} ${shown(code)}`;
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${status}, a redirect to ${shown(location)}, which was not followed`;
  }
  return `${status}${answer.json === undefined ? `, ${describeBody(answer)}` : ""}`;
}

function judgeForm(answer: Answer, rule: CheckedRule): Judgement[] {
  const type = headerOf(answer, "content-type");
  const encoding = headerOf(answer, "content-encoding");
  const wrong: [at: string, expected: string, found: string][] = [];
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? "")) {
    wrong.push(["Content-Type", "application/json", type === undefined ? "nothing" : quoted(type)]);
  }
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    wrong.push(["Content-Encoding", "nothing, since no encoding was asked for", quoted(encoding)]);
  }
  if (answer.json === undefined) wrong.push(["body", "JSON", describeBody(answer)]);
  if (wrong.length === 0) return [{ rules: [rule] }];
  return wrong.map(([at, expected, found]) => ({ rules: [rule], at, expected, found }));
}

/** The rule about each member of the context; any other member is R1's. */
const rulesOfMembers: readonly (readonly [start: string, rule: CheckedRule])[] = [
  ["$.data.organization", "R2"],
  ["$.data.environment", "R3"],
  ["$.data.scopes", "R4"],
  ["$.data.limits", "R5"],
  ["$.data.usage", "R6"],
];

function judgeContext({ pathId, apiKey = "" }: Probe, answer: Answer): Judgement[] {
  const found: Omit<Difference, "pathId">[] = mismatches(me.responseSchema, answer.json).map((mismatch) => {
    const rule = rulesOfMembers.find(([start]) => mismatch.at.startsWith(start))?.[1] ?? "R1";
    return { rules: [rule], ...mismatch };
  });
  const environment = memberAt(answer, "data", "environment");
  const expected = keyPrefixOf(apiKey)?.environment;
  if ((environment === "test" || environment === "live") && environment !== expected) {
    found.push({
      rules: ["R3"],
      at: "$.data.environment",
      expected: `"${expected}", as the key's prefix says`,
      found: describeValue(environment),
    });
  }
  // Without data the rules about its members have nothing to be compared with.
  const hasData = !found.some(({ at }) => at === "$" || at === "$.data");
  const broken = new Set(found.flatMap(({ rules }) => rules));
  const kept = hasData ? rulesOfMembers.map(([, rule]) => rule).filter((rule) => !broken.has(rule)) : [];
  return [...found, { rules: [ruleOf(pathId), ...kept] }];
}

function judgeRequestId(answer: Answer): Judgement {
  const requestId = headerOf(answer, "x-request-id");
  if (requestId !== undefined && requestId !== "") return { rules: ["R7"] };
  const found = requestId === undefined ? "nothing" : "an empty header";
  return { rules: ["R7"], at: "X-Request-Id", expected: "a request id", found };
}

function judgeError(pathId: PathId, answer: Answer): Judgement[] {
  const wrong = mismatches(errorSchema, answer.json);
  return [
    ...(wrong.length === 0 ? [{ rules: ["R27" as const] }] : []),
    ...wrong.map((mismatch) => ({ rules: ["R27" as const], ...mismatch })),
    ...judgeCode(pathId, memberAt(answer, "error", "code")),
  ];
}

function judgeCode(pathId: PathId, code: unknown): Judgement[] {
  const { status, code: expected } = outcomeOf(pathId);
  const rule = ruleOf(pathId);
  const at = "$.error.code";
  // A code that is missing or no text differs by the schema already.
  if (typeof code !== "string") return [];
  if (status === 429 && code === "") {
    return [{ rules: ["R28"], at, expected: "a code", found: "an empty string" }];
  }
  if (status === 429 || code === expected) return [{ rules: [rule, "R28"] }];
  const listed = outcomes.filter((row) => row.status === status).map((row) => row.code);
  const isListed = listed.includes(code as ApiErrorCode);
  const found = isListed ? quoted(code) : `${quoted(code)}, which is not listed for ${status}`;
  return [{ rules: isListed ? [rule] : [rule, "R28"], at, expected: `"${expected}"`, found }];
}

/** Returns the `per_minute` that a 200 reports; `undefined` when it is none. */
export function perMinuteOf({ answer }: Exchange): number | undefined {
  const limit = memberAt(answer, "data", "limits", "per_minute");
  return typeof limit === "number" && Number.isInteger(limit) && limit >= 0 ? limit : undefined;
}

/** Judges `per_minute` + 1 requests without a 429: a difference (R22), unless a new minute may have begun. */
export function judgeNoLimit(sent: readonly Exchange[], perMinute: number): Difference | string {
  const minutes = new Set(sent.map(({ answer }) => minuteOf(headerOf(answer, "date"))));
  if (minutes.size !== 1 || minutes.has(undefined)) {
    return `a minute may have ended while ${sent.length} requests were sent; none got 429`;
  }
  const found = `200 for ${sent.length} requests in one minute; per_minute is ${perMinute}`;
  return { rules: ["R22"], pathId: "429.per_minute", at: "status", expected: "429", found };
}

function minuteOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? undefined : Math.floor(time / 60_000);
}
