import { type Assumptions, assumptionTable, errorCodePattern, scopePattern } from "../rules/assumptions.js";
import { isMapping } from "../rules/schema/shape.js";
import type { Attempt } from "./judge.js";
import { type CheckedResponse, headerOf, memberAt, shownText } from "./response.js";

export interface InferredAssumption {
  readonly name: keyof Assumptions;
  /** Left out if the responses show no single value that the sandbox can imitate. */
  readonly value?: Assumptions[keyof Assumptions];
  readonly because: string;
}

type Inferred = Omit<InferredAssumption, "name">;

/** Infers everything that the specification leaves open, in the order of the assumptions' table. */
export function inferAssumptions(attempts: readonly Attempt[]): InferredAssumption[] {
  const responses = attempts.flatMap(({ response }) => (response?.json === undefined ? [] : [response]));
  /** Infers from the responses with some statuses, if there are any. */
  const from = (
    statuses: number[],
    none: string,
    infer: (responses: readonly CheckedResponse[]) => Inferred,
  ) => {
    const some = responses.filter(({ status }) => statuses.includes(status));
    return some.length === 0 ? { because: none } : infer(some);
  };
  const no429 = "no 429 seen; add --probe-limits to trigger one";
  const unseen = { because: "a single response does not show it" };
  const needed = meScope(attempts);
  const inferred: Readonly<Record<keyof Assumptions, Inferred>> = {
    rate_limit_code: from([429], no429, rateLimitCode),
    request_id_on_errors: from([401, 403, 429], "no errors seen", (errors) =>
      presence(
        errors.map((response) => headerOf(response, "x-request-id")),
        "X-Request-Id",
        "errors",
      ),
    ),
    retry_after: from([429], no429, retryAfter),
    rate_limit_headers: from([200, 429], "no 200 and no 429 seen", rateLimitHeaders),
    error_details: from([403, 429], "no 403 and no 429 seen", details),
    me_scope: needed,
    scopes: scopes(responses, needed.value),
    minute_window: unseen,
    day_resets_at: unseen,
    count_rejected: unseen,
    retiring_counts_as_active: unseen,
    replacement_usage: unseen,
    default_expiry: unseen,
    www_authenticate: from([401], "no 401 responses seen", challenges),
  };
  return (Object.keys(assumptionTable) as (keyof Assumptions)[]).map((name) => ({
    name,
    ...inferred[name],
  }));
}

/** Infers from the presence of something in all responses or none; `example` describes it if it is present. */
function presence(values: readonly unknown[], what: string, noun: string, example = ""): Inferred {
  const present = values.filter((value) => value !== undefined).length;
  const because = `${what} on ${present} of ${values.length} ${noun}`;
  if (present > 0 && present < values.length) return { because };
  return { value: present > 0, because: present > 0 ? because + example : because };
}

function challenges(responses: readonly CheckedResponse[]): Inferred {
  const values = responses.map((response) => headerOf(response, "www-authenticate"));
  return presence(values, "WWW-Authenticate", "responses with 401", `: ${shownText(values[0] ?? "")}`);
}

function details(responses: readonly CheckedResponse[]): Inferred {
  const values = responses.map((response) => memberAt(response, "error", "details"));
  const names = new Set(values.flatMap((value) => (isMapping(value) ? Object.keys(value) : [])));
  return presence(values, "details", "responses with 403 or 429", `: ${shownText([...names].join(", "))}`);
}

function rateLimitCode(responses: readonly CheckedResponse[]): Inferred {
  const code = onlyOne(responses.map((response) => memberAt(response, "error", "code")));
  if (typeof code !== "string" || !errorCodePattern.test(code))
    return { because: "no single code on the 429 that the sandbox can send" };
  return { value: code, because: "the code of the 429" };
}

function retryAfter(responses: readonly CheckedResponse[]): Inferred {
  const form = onlyOne(responses.map((response) => retryAfterForm(headerOf(response, "retry-after"))));
  if (form === undefined) return { because: "no single form of Retry-After that HTTP has" };
  return { value: form, because: form === "none" ? "no Retry-After on the 429" : "Retry-After on the 429" };
}

function retryAfterForm(value: string | undefined): Assumptions["retry_after"] | undefined {
  if (value === undefined) return "none";
  if (/^\d+$/.test(value)) return "seconds";
  const isDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(value);
  return isDate ? "date" : undefined;
}

function rateLimitHeaders(responses: readonly CheckedResponse[]): Inferred {
  const names = responses.map(({ headers }) =>
    headers.map(([name]) => name).filter((name) => /^(?:x-)?rate-?limit\b/i.test(name)),
  );
  const form = onlyOne(names.map(rateLimitForm));
  const seen = shownText([...new Set(names.flat())].join(", "));
  if (form === undefined) return { because: `no single form that the sandbox has: ${seen}` };
  return { value: form, because: form === "none" ? "no such header on 200 and 429" : seen };
}

function rateLimitForm(names: readonly string[]): Assumptions["rate_limit_headers"] | undefined {
  const lower = names.map((name) => name.toLowerCase());
  if (lower.length === 0) return "none";
  if (lower.includes("ratelimit") && lower.includes("ratelimit-policy")) return "draft";
  return lower.includes("x-ratelimit-limit") && lower.includes("x-ratelimit-remaining")
    ? "legacy"
    : undefined;
}

function onlyOne<Value>(values: readonly Value[]): Value | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}

export function scopesOf(response: CheckedResponse): string[] {
  const granted = response.status === 200 ? memberAt(response, "data", "scopes") : undefined;
  return Array.isArray(granted) ? granted.filter((one) => typeof one === "string") : [];
}

// The scope that the endpoint requires must be one of the known scopes.
function scopes(responses: readonly CheckedResponse[], needed: Inferred["value"]): Inferred {
  const scopesSeen = [
    ...new Set([...responses.flatMap(scopesOf), ...(typeof needed === "string" ? [needed] : [])]),
  ];
  const assumed = assumptionTable.scopes.minimal;
  const added = scopesSeen.filter((scope) => !assumed.includes(scope) && scopePattern.test(scope));
  if (scopesSeen.length === 0) return { because: "no scope seen" };
  if (added.length === 0) return { because: `only ${shownText(scopesSeen.join(", "))} seen` };
  return { value: [...assumed, ...added], because: `the assumed scopes, and ${shownText(added.join(", "))}` };
}

function meScope(attempts: readonly Attempt[]): Inferred {
  const lacking = attempts.find(({ pathId }) => pathId === "403.insufficient_scope")?.response;
  if (lacking === undefined || lacking.status === 429)
    return { because: "no key that lacks a scope was tried" };
  const named = memberAt(lacking, "error", "details", "required_scope");
  if (typeof named === "string" && scopePattern.test(named)) {
    return { value: named, because: "error.details of the 403 names it" };
  }
  const granted = attempts.flatMap(({ response }) => (response?.status === 200 ? [scopesOf(response)] : []));
  const common = (granted[0] ?? []).filter((scope) => granted.every((each) => each.includes(scope)));
  const [only = ""] = common;
  if (lacking.status === 403 && common.length === 1 && scopePattern.test(only)) {
    return { value: only, because: "the one scope that every permitted key has" };
  }
  return { because: `may be any scope that every permitted key has: ${shownText(common.join(", "))}` };
}

/** Renders inferred assumptions as an `assumptions:` block for a scenario. Comments show why others are left out. */
export function assumptionsYaml(assumptions: readonly InferredAssumption[]): string {
  const learned = assumptions.filter(({ value }) => value !== undefined);
  const open = assumptions.filter(({ value }) => value === undefined);
  const reasons = [...new Set(open.map(({ because }) => because))];
  return [
    `assumptions:${learned.length === 0 ? " {}" : ""}`,
    ...learned.map(({ name, value, because }) => `  ${name}: ${yamlOf(value)}  # ${because}`),
    ...reasons.map((reason) => {
      const names = open.filter(({ because }) => because === reason).map(({ name }) => name);
      return `  # not learned: ${names.join(", ")} (${reason})`;
    }),
    "",
  ].join("\n");
}

function yamlOf(value: InferredAssumption["value"]): string {
  if (Array.isArray(value)) return `[${value.map(yamlOf).join(", ")}]`;
  // JSON is YAML. Plain if the text cannot mean anything else, such as `true` or `null`.
  const isPlain = /^(?!(?:true|false|null)$)[a-z][a-z0-9_]*(?::[a-z][a-z0-9_]*)*$/.test(String(value));
  return typeof value === "string" && isPlain ? value : JSON.stringify(value);
}
