import { adviceIds, adviceLevels, adviceTable } from "../rules/advice.js";
import { SandboxError } from "../rules/errors.js";
import { faultKindRow, isFault, isIdempotent, whatToDoAfter } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId, outcomeRow, outcomeShape } from "../rules/outcomes.js";
import { mePath } from "../rules/paths.js";
import { isoTime } from "../rules/time.js";
import type { Endpoint } from "../sandbox/call.js";
import { type Exchange, requestShape, sentKeyRef, viewRequest } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { controlBodies } from "../scenario/format/inputs.js";
import * as s from "../schema/shape.js";
import { quote } from "../schema/words.js";
import { type RequestCheck, requestChecks, requiredScope } from "./authorize.js";
import { fillPlaceholders } from "./endpoints.js";
import { headerPairs } from "./http-messages.js";
import { type NextResult, nextRequest, whatToDoAbout } from "./next-request.js";
import { sentResponse } from "./story/send.js";

const requestCheckShape = s.mapping({ name: s.text(), question: s.text(), rules: s.text() });
const responseShape = s.mapping({ status: s.integer(), headers: s.record(s.text()), body: s.text() });

export const requestDetailsShape = s.mapping({
  ...requestShape.fields,
  /** `null` for an unknown path, or an endpoint that requires no scope. */
  requiredScope: s.orNull(s.text()),
  /** `null` if the request has no key of this sandbox. */
  keyScopes: s.orNull(s.list(s.text())),
  /** All checks in order; those after the one that rejected it are not reached. */
  checks: s.list(
    s.mapping({ ...requestCheckShape.fields, result: s.choice(["passed", "rejected", "not_reached"]) }),
  ),
  /** What the client got; `null` if a fault left it without a response. */
  response: s.orNull(responseShape),
  /** When a request has this outcome, in a sentence. */
  when: s.text(),
  /** The facts of the key that decided: `revoked since 2026-03-01T09:00:00Z`. `null` if the same request would now get another outcome. */
  why: s.orNull(s.text()),
  /** What the client should do now. */
  whatToDo: s.text(),
  /** What the client sent: some headers by lower-case name, and the form of a key that the sandbox does not have. */
  sent: s.mapping({ headers: s.record(s.text()), keyForm: s.orNull(s.text()) }),
  /**
   * The body for `POST /send` that repeats it: its key, method and path, without its query, body and other headers. `null` if its
   * method or path cannot be sent.
   */
  repeat: s.orNull(controlBodies.sending),
  /** This request, with at most three requests with the same key before it and five after it. Without a key, only this request. */
  around: s.list(s.mapping({ id: s.text(), at: s.instant(), outcome: outcomeShape() })),
  /** The advice that it caused, in words. */
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

/** Everything about one request: its view, and what is worked out when somebody opens it. */
export interface RequestDetails extends s.ValueOf<typeof requestDetailsShape> {}

/** Works out everything about a request of the journal. Throws `not_found` if the journal has none with this id. */
export function requestDetails(sandbox: SandboxState, id: string): RequestDetails {
  const exchange = sandbox.journal.find(id);
  if (exchange === undefined) {
    const message = `There is no request ${quote(id)}. The journal keeps the last 1,000 requests of the running scenario.`;
    throw new SandboxError("not_found", message);
  }

  const { outcome, response } = exchange;
  // Not by its path, which may be cut.
  const endpoint = sandbox.endpoints.find(({ operationId }) => operationId === exchange.operation);
  const entry = exchange.key === null ? undefined : sandbox.registry.keys.get(exchange.key);
  const next = nextWithSameOutcome(sandbox, exchange, endpoint);

  const adviceDetails: RequestDetails["adviceDetails"][number][] = [];
  for (const { id: adviceId, level, rule, meaning, whatToDo } of adviceTable) {
    if (!exchange.advice.includes(adviceId)) continue;
    const filledText = fillPlaceholders(whatToDo, sandbox.endpoints, sandbox.invocation);
    adviceDetails.push({ id: adviceId, level, rule, meaning, whatToDo: filledText });
  }

  return {
    ...viewRequest(exchange),
    requiredScope: endpoint === undefined ? null : requiredScope(endpoint, sandbox),
    keyScopes: entry === undefined ? null : [...entry.key.scopes, ...sandbox.additions.scopes],
    checks: checkResults(outcome),
    response: response.status === 0 ? null : sentResponse(response, exchange.delivery),
    when: outcomeRow(outcome).when,
    why: next?.why ?? null,
    sent: {
      headers: Object.fromEntries(headerPairs(exchange.keptHeaders)),
      keyForm: exchange.keyForm ?? null,
    },
    repeat: repeatableRequest(exchange),
    around: requestsAround(sandbox, exchange),
    whatToDo: whatToDoAfterRequest(exchange, next),
    adviceDetails,
  };
}

/** What the next request with the same key would get, if its outcome is that of this request: they then have the same cause. */
function nextWithSameOutcome(
  sandbox: SandboxState,
  exchange: Exchange,
  endpoint: Endpoint | undefined,
): NextResult | undefined {
  const { key } = exchange;
  if (endpoint === undefined || key === null || !sandbox.registry.keys.has(key)) return undefined;
  const next = nextRequest(sandbox, key, endpoint);
  return next.outcome === exchange.outcome ? next : undefined;
}

/** What each check has found, from the outcome alone. */
export function checkResults(
  outcome: OutcomeId,
  checks: readonly RequestCheck[] = requestChecks,
): RequestDetails["checks"] {
  // A fault comes before the first check.
  let isDecided = isFault(outcome);
  const results: RequestDetails["checks"][number][] = [];
  for (const { name, question, rules, exits } of checks) {
    let result: (typeof results)[number]["result"] = "passed";
    if (isDecided) {
      result = "not_reached";
    } else if ((exits as readonly OutcomeId[]).includes(outcome)) {
      result = "rejected";
      isDecided = true;
    }
    results.push({ name, question, rules, result });
  }
  return results;
}

/** How many requests before and after a request are shown with it. */
const mostBefore = 3;
const mostAfter = 5;

/** A request with the requests with the same key before and after it. A request without a key is alone: another one may be of anybody. */
function requestsAround({ journal }: SandboxState, exchange: Exchange): RequestDetails["around"] {
  const { fingerprint } = exchange;
  let withSameKey: readonly Exchange[] = [exchange];
  if (fingerprint !== null) {
    withSameKey = journal.requests({ probes: true }).filter((request) => {
      if (request.id === exchange.id) return true;
      return request.fingerprint === fingerprint && !request.fromStory;
    });
  }

  const index = withSameKey.findIndex((request) => request.id === exchange.id);
  const first = Math.max(0, index - mostBefore);
  const around = withSameKey.slice(first, index + 1 + mostAfter);
  return around.map(({ id, at, outcome }) => ({ id, at: isoTime(at), outcome }));
}

/** A method and a path that `POST /send` accepts: visible ASCII. The journal writes `…` for the rest of a key or of a long path. */
const sendableMethod = /^[A-Z]{1,20}$/;
const fromSlashOn = /^\/[!-~]*$/;

/** The body for `/send` that repeats a request of the journal; `null` if it cannot be sent as it is. */
function repeatableRequest(exchange: Exchange): RequestDetails["repeat"] {
  if (!sendableMethod.test(exchange.method) || !fromSlashOn.test(exchange.path)) return null;
  return {
    key: sentKeyRef(exchange),
    ...(exchange.method !== "GET" && { method: exchange.method }),
    ...(exchange.path !== mePath && { path: exchange.path }),
  };
}

/** What its client should do after a request. `next`: what the next request would get, if that is the same outcome. */
function whatToDoAfterRequest(exchange: Exchange, next: NextResult | undefined): string {
  const { outcome, fault } = exchange;
  if (isFault(outcome)) {
    const headers = new Map(headerPairs(exchange.response.headers));
    const retryAfter = headers.get("Retry-After");
    return whatToDoAfter(outcome, { isIdempotent: isIdempotent(exchange.method), retryAfter });
  }

  // A client with a short timeout has given up, although the request succeeded.
  if (isSuccess(outcome) && fault !== null && faultKindRow(fault).onlyDelays) {
    return `The request succeeded, but late. ${faultKindRow(fault).whatToDo}`;
  }
  return whatToDoAbout(outcome, next);
}
