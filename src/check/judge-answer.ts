import { me } from "../api/endpoints/me.js";
import { errorSchema } from "../api/openapi.js";
import { type ApiErrorCode, outcomeOf, outcomes } from "../domain/outcomes.js";
import { type Answer, errorMember, headerOf, isHtml, memberOf } from "./answer.js";
import { type CheckedRule, ruleOfPath } from "./checked-rules.js";
import { keyPrefixOf } from "./key-variables.js";
import { mismatches } from "./match-schema.js";
import { agreement, type Difference, disagreement, type Observation } from "./observation.js";
import type { Probe } from "./probe.js";
import { quoted, shown, visible } from "./shown.js";

/** Holds one answer against what the contract says of its path. */
export function judgeAnswer(probe: Probe, answer: Answer): Observation[] {
  const { pathId } = probe;
  const { status } = outcomeOf(pathId);
  const rule = ruleOfPath[pathId] as CheckedRule;
  const judged: Observation[] = [];
  const differs = (rules: readonly CheckedRule[], at: string, expected: string, found: string) =>
    judged.push(disagreement({ rules, pathId, at, expected, found }));
  for (const at of answer.repeatsKeyAt) differs(["R34"], at, "no key", "the key that was sent");
  if (answer.repeatsKeyAt.length === 0 && probe.apiKey !== undefined) judged.push(agreement(pathId, "R34"));
  if (answer.status !== status) {
    differs([rule], "status", String(status), foundInstead(answer));
    return judged.map((one) => withRequestId(one, answer));
  }
  judged.push(...judgeForm(probe, answer, status === 200 ? "R1" : "R27"));
  if (answer.json !== undefined) {
    judged.push(...(status === 200 ? judgeContext(probe, answer) : judgeError(probe, answer)));
  }
  if (status === 200) judged.push(judgeRequestId(probe, answer));
  return judged.map((one) => withRequestId(one, answer));
}

/** What came instead of the status that was expected. */
function foundInstead(answer: Answer): string {
  const code = errorMember(answer, "code");
  const location = headerOf(answer, "location");
  if (typeof code === "string") return `${answer.status} ${visible(code)}`;
  if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
    return `${answer.status}, a redirect to ${visible(location)}, which was not followed`;
  }
  return `${answer.status}${answer.json === undefined ? `, ${bodyInWords(answer)}` : ""}`;
}

/** A body that is not JSON, in words. */
export function bodyInWords(answer: Answer): string {
  const { text } = answer;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  return `${isHtml(answer) ? "an HTML page" : "text"} that begins with ${beginning(text)}`;
}

function beginning(text: string): string {
  return quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function judgeForm({ pathId }: Probe, answer: Answer, rule: CheckedRule): Observation[] {
  const type = headerOf(answer, "content-type");
  const encoding = headerOf(answer, "content-encoding");
  const form: Difference[] = [];
  const differs = (at: string, expected: string, found: string) =>
    form.push({ rules: [rule], pathId, at, expected, found });
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? "")) {
    differs("Content-Type", "application/json", type === undefined ? "nothing" : quoted(type));
  }
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    differs("Content-Encoding", "nothing, since no encoding was asked for", quoted(encoding));
  }
  if (answer.json === undefined) differs("body", "JSON", bodyInWords(answer));
  return form.length === 0 ? [agreement(pathId, rule)] : form.map(disagreement);
}

// By the member: which rule speaks of it. What stands in no row is of R1.
const rulesOfMembers: readonly (readonly [start: string, rule: CheckedRule])[] = [
  ["$.data.organization", "R2"],
  ["$.data.environment", "R3"],
  ["$.data.scopes", "R4"],
  ["$.data.limits", "R5"],
  ["$.data.usage", "R6"],
];

function judgeContext({ pathId, apiKey = "" }: Probe, { json }: Answer): Observation[] {
  const found: Difference[] = mismatches(me.responseSchema, json).map((mismatch) => {
    const rule = rulesOfMembers.find(([start]) => mismatch.at.startsWith(start))?.[1] ?? "R1";
    return { rules: [rule], pathId, ...mismatch };
  });
  const rule = ruleOfPath[pathId] as CheckedRule;
  const environment = memberOf(memberOf(json, "data"), "environment");
  const expected = keyPrefixOf(apiKey)?.environment;
  if ((environment === "test" || environment === "live") && environment !== expected) {
    const words = `"${expected}", as the key's prefix says`;
    found.push({
      rules: ["R3"],
      pathId,
      at: "$.data.environment",
      expected: words,
      found: shown(environment),
    });
  }
  // Without data there is nothing that its members' rules could be held against.
  const dataIsThere = !found.some(({ at }) => at === "$" || at === "$.data");
  const differing = new Set(found.flatMap(({ rules }) => rules));
  const kept = dataIsThere ? rulesOfMembers.map(([, one]) => one).filter((one) => !differing.has(one)) : [];
  return [...found.map(disagreement), agreement(pathId, rule, ...kept)];
}

function judgeRequestId({ pathId }: Probe, answer: Answer): Observation {
  const requestId = headerOf(answer, "x-request-id");
  if (requestId !== undefined && requestId !== "") return agreement(pathId, "R7");
  const found = requestId === undefined ? "nothing" : "an empty header";
  return disagreement({ rules: ["R7"], pathId, at: "X-Request-Id", expected: "a request id", found });
}

function judgeError({ pathId }: Probe, answer: Answer): Observation[] {
  const shape: Difference[] = mismatches(errorSchema, answer.json).map((mismatch) => ({
    rules: ["R27"],
    pathId,
    ...mismatch,
  }));
  return [
    ...(shape.length === 0 ? [agreement(pathId, "R27")] : shape.map(disagreement)),
    ...judgeCode(pathId, answer),
  ];
}

function judgeCode(pathId: Probe["pathId"], answer: Answer): Observation[] {
  const { status, code: expected } = outcomeOf(pathId);
  const rule = ruleOfPath[pathId] as CheckedRule;
  const code = errorMember(answer, "code");
  // What is missing or no text was found wanting already.
  if (typeof code !== "string") return [];
  const at = "$.error.code";
  if (status === 429) {
    if (code !== "") return [agreement(pathId, rule, "R28")];
    return [disagreement({ rules: ["R28"], pathId, at, expected: "a code", found: "an empty string" })];
  }
  if (code === expected) return [agreement(pathId, rule, "R28")];
  const isListed = listedCodes(status).includes(code as ApiErrorCode);
  const found = isListed ? quoted(code) : `${quoted(code)}, which is not listed for ${status}`;
  const rules: CheckedRule[] = isListed ? [rule] : [rule, "R28"];
  return [disagreement({ rules, pathId, at, expected: `"${expected}"`, found })];
}

function listedCodes(status: number): readonly (string | null)[] {
  return outcomes.filter((row) => row.status === status).map(({ code }) => code);
}

function withRequestId(observation: Observation, answer: Answer): Observation {
  const requestId = headerOf(answer, "x-request-id");
  const { difference } = observation;
  if (difference === undefined || requestId === undefined || requestId === "") return observation;
  return { ...observation, difference: { ...difference, requestId: visible(requestId) } };
}
