import { adviceIds, adviceLevels, adviceTable } from "../rules/advice.js";
import { authorizationChecks, type RequestCheck } from "../rules/authorize.js";
import { SandboxError } from "../rules/errors.js";
import { effectAt, isIdempotent, whatToDoAfter } from "../rules/fault-effects.js";
import { isFault, isSuccess, mePath, type OutcomeId, outcomeOf, outcomeShape } from "../rules/outcomes.js";
import * as s from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { isoOf } from "../rules/time.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import { type Exchange, senderOf } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { requestShape } from "../sandbox/view-shapes.js";
import { viewRequest } from "../sandbox/views.js";
import { controlBodies } from "../scenario/format/inputs.js";
import { scopeOf } from "./decide.js";
import { withNames } from "./endpoints.js";
import { headerPairs } from "./http-messages.js";
import { nextRequest, whatToDoAbout } from "./predict.js";
import { routeAt } from "./routes.js";
import { sentResponse } from "./story/send.js";

/** What the next request would get; `undefined` if the state of its key has changed since this one. */
function sameAgain(sandbox: SandboxState, { key, outcome }: Exchange, endpoint: Endpoint | undefined) {
  if (key === null || endpoint === undefined || !sandbox.registry.keys.has(key)) return undefined;
  const next = nextRequest(sandbox, key, endpoint);
  return next.outcome === outcome ? next : undefined;
}

const targetChecks: readonly RequestCheck[] = [
  { name: "path", question: "Does the API have this path?", rules: "R1", exits: ["404.unknown_path"] },
  { name: "method", question: "Does the path accept this method?", rules: "R1", exits: ["405.method"] },
];

export const requestChecks: readonly RequestCheck[] = [...targetChecks, ...authorizationChecks];

const requestCheckShape = s.mapping({ name: s.text(), question: s.text(), rules: s.text() });
const responseShape = s.mapping({ status: s.count(), headers: s.record(s.text()), body: s.text() });

export const requestDetailsShape = s.mapping({
  ...requestShape.fields,
  /** `null` for an unknown path, or an endpoint that requires no scope. */
  requiredScope: s.nullable(s.text()),
  /** `null` if the request has no key of this sandbox. */
  keyScopes: s.orNull(s.list(s.text())),
  checks: s.list(
    s.mapping({ ...requestCheckShape.fields, result: s.choice(["passed", "rejected", "not_reached"]) }),
  ),
  response: s.orNull(responseShape),
  when: s.text(),
  /** The facts of the key that decided, if they are still so: `revoked since 2026-03-01T09:00:00Z`. */
  why: s.nullable(s.text()),
  whatToDo: s.text(),
  /** What the client sent: some headers by lower-case name, and the form of a key that the sandbox does not have. */
  sent: s.mapping({ headers: s.record(s.text()), keyForm: s.nullable(s.text()) }),
  repeat: controlBodies.sending,
  /** The requests with the same key around it, itself included: at most three before it and five after it. */
  around: s.list(s.mapping({ id: s.text(), at: s.instant(), outcome: outcomeShape() })),
  /** The request as a command for a shell with the environment of clients. */
  curl: s.text(),
  /** All this as text, for people: what `explain <request id>` prints. */
  text: s.text(),
  adviceDetails: s.list(
    s.mapping({
      id: s.choice(adviceIds),
      level: s.choice(adviceLevels),
      rule: s.text(),
      meaning: s.text(),
      whatToDo: s.text(),
    }),
  ),
});

export interface RequestDetails extends s.ValueOf<typeof requestDetailsShape> {}

export function checkResults(outcome: OutcomeId, checks: readonly RequestCheck[] = requestChecks) {
  let isOver = isFault(outcome);
  return checks.map(({ name, question, rules, exits }) => {
    const isRejected = !isOver && (exits as readonly OutcomeId[]).includes(outcome);
    const result = isRejected
      ? ("rejected" as const)
      : isOver
        ? ("not_reached" as const)
        : ("passed" as const);
    isOver ||= isRejected;
    return { name, question, rules, result };
  });
}

function requireRequest({ journal }: SandboxState, id: string): Exchange {
  const exchange = journal.find(id);
  if (exchange !== undefined) return exchange;
  const message = `There is no request ${quote(id)}. The journal keeps the last 1,000 requests of the running scenario.`;
  throw new SandboxError("not_found", message);
}

function whatToDoAfterRequest(exchange: Exchange, next: ReturnType<typeof sameAgain>): string {
  const { outcome, response } = exchange;
  if (!isFault(outcome)) {
    // A client with a short timeout has given up, although the request succeeded.
    return exchange.fault && effectAt(exchange.fault).onlyDelays && isSuccess(outcome)
      ? `The request succeeded, but late. ${effectAt(exchange.fault).whatToDo}`
      : whatToDoAbout(outcome, next);
  }
  const [, retryAfter] = headerPairs(response.headers).find(([name]) => name === "Retry-After") ?? [];
  return whatToDoAfter(outcome, { isIdempotent: isIdempotent(exchange.method), retryAfter });
}

function requestsAround({ journal }: SandboxState, { id, fingerprint }: Exchange): RequestDetails["around"] {
  const isAlike = (one: Exchange) => one.fingerprint === fingerprint && !one.fromStory;
  const same = journal.requests({ probes: true }).filter((one) => one.id === id || isAlike(one));
  const index = same.findIndex((one) => one.id === id);
  const around = same.slice(Math.max(0, index - 3), index + 6);
  return around.map((one) => ({ id: one.id, at: isoOf(one.at), outcome: one.outcome }));
}

/** The body for `/send` that repeats a request. */
function repeatedRequest(exchange: Exchange): RequestDetails["repeat"] {
  const { method } = exchange;
  const path = repeatablePath(exchange);
  return {
    key: senderOf(exchange),
    ...(method !== "GET" && { method: /^[A-Z]{1,20}$/.test(method) ? method : "OTHER" }),
    ...(path !== mePath && { path }),
  };
}

// Parts that were cut out of a path, or that stories cannot contain, change no response.
function repeatablePath({ path: shown }: Exchange): string {
  const encoded = shown
    .replaceAll("…", "*")
    .replace(/[^!-~]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}`);
  return (encoded.startsWith("/") ? encoded : `/${encoded}`).slice(0, 1000);
}

/** Everything about a request of the journal, except the two texts that are for people. */
export function requestDetails(sandbox: SandboxState, id: string): Omit<RequestDetails, "curl" | "text"> {
  const { registry } = sandbox;
  const exchange = requireRequest(sandbox, id);
  const { outcome, advice, response, delivery } = exchange;
  const { when } = outcomeOf(outcome);
  const endpoint = routeAt(sandbox.endpoints, exchange.path)?.methods.get(exchange.method);
  const next = sameAgain(sandbox, exchange, endpoint);
  return {
    ...viewRequest(exchange),
    requiredScope: endpoint === undefined ? null : scopeOf(endpoint, sandbox),
    keyScopes: registry.keys.get(exchange.key ?? "")?.key.scopes ?? null,
    checks: checkResults(outcome),
    response: response.status !== 0 ? sentResponse(response, delivery) : null,
    when,
    why: next?.why ?? null,
    sent: {
      headers: Object.fromEntries(headerPairs(exchange.keptHeaders)),
      keyForm: exchange.keyForm ?? null,
    },
    repeat: repeatedRequest(exchange),
    around: requestsAround(sandbox, exchange),
    whatToDo: whatToDoAfterRequest(exchange, next),
    adviceDetails: adviceTable
      .filter((row) => advice.includes(row.id))
      .map(({ whatToDo, ...row }) => ({
        ...row,
        whatToDo: withNames(whatToDo, sandbox.endpoints, sandbox.invocation),
      })),
  };
}
