import { adviceIds, adviceLevels } from "../spec/advice.js";
import { profiles } from "../spec/assumptions.js";
import { type PathId, pathIdShape } from "../spec/outcomes.js";
import { escapeControls, redactValue } from "../spec/redact.js";
import { mistakesIn } from "../spec/schema/check.js";
import { camelCase, inJsonOfAnyVersion } from "../spec/schema/json.js";
import {
  choice,
  count,
  flag,
  growingChoice,
  instant,
  isMapping,
  list,
  mapping,
  nullable,
  optional,
  orNull,
  record,
  type Shape,
  text,
  type ValueOf,
} from "../spec/schema/shape.js";

// Apart from the making of a report: pages leave these out.

const world = {
  scenario: text(),
  seed: count(),
  profile: choice(profiles),
  /** The assumptions that the scenario sets differently from the profile, or that the profile would vary. */
  pinned: list(text()),
};

const coverage = mapping({
  /** A whole number, rounded down: 100 means all. */
  percent: count({ most: 100 }),
  met: count(),
  promised: count(),
});
/** The covered share of the promised paths. */
export interface Coverage extends ValueOf<typeof coverage> {}

const share = () => mapping({ met: count(), total: count() });

const howToMeet = mapping({
  /** The ref of the key to send; `none`, `malformed` or `unknown` for no key of the sandbox. */
  ref: text(),
  request: mapping({ method: text(), path: text(), headers: record(text()), body: nullable(text()) }),
  /** The bundled scenario to start first. */
  scenario: nullable(text()),
  /** Whether to reset the sandbox first. */
  reset: flag(),
  /** The scopes to give the key in the scenario first, if no key has the one that the endpoint needs. Default: none. */
  scopes: optional(list(text())),
  /** The steps in words. */
  text: text(),
  /** The request as a command for a shell with the environment of clients. */
  curl: text(),
});
/** How to cover a path. */
export interface HowToMeet extends ValueOf<typeof howToMeet> {}

const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;

const path = mapping({
  /** An outcome of the closed list, or the success of another endpoint than `/me`: its status and operation id. */
  pathId: pathId(),
  /** Whether the API promises it; the coverage counts only promised paths. */
  promised: flag(),
  /** Whether it is covered, by a request whose key was not in a wrong place. */
  met: flag(),
  /** The number of requests that ended there. */
  count: count(),
  /** The requests that end there. */
  when: text(),
  /** How to cover it; `null` if it is covered, or if it is not promised and no single request covers it. */
  howToMeet: orNull(howToMeet),
});
/** An outcome of requests. */
export interface ReportedPath extends ValueOf<typeof path> {}

const request = mapping({
  /** The request id. */
  id: text(),
  /** ISO 8601, on the sandbox's clock. */
  at: instant(),
  method: text(),
  path: text(),
  /** The ref of the key that the advice is about, such as a key in the query, if the sandbox has it. */
  key: nullable(text()),
  /** The fingerprint of that key, or of the text in its place. */
  fingerprint: nullable(text()),
  /** The nearest method and path, if the API does not have these. */
  didYouMean: nullable(text()),
});
/** A request that caused advice. */
export interface ReportedRequest extends ValueOf<typeof request> {}

const advice = mapping({
  id: growingChoice(adviceIds),
  level: choice(adviceLevels),
  /** The rules or the section that it is based on. */
  rule: text(),
  /** The number of requests that caused it. */
  count: count(),
  meaning: text(),
  whatToDo: text(),
  /** The first requests, at most five. */
  examples: list(request),
});
/** An advice and the requests that caused it. */
export interface ReportedAdvice extends ValueOf<typeof advice> {}

const endpoint = mapping({
  method: text(),
  path: text(),
  operationId: text(),
  /** The number of the client's requests to it. */
  requests: count(),
  /** Whether one of its successes is covered. */
  covered: flag(),
});
/** An endpoint and the requests to it. */
export interface ReportedEndpoint extends ValueOf<typeof endpoint> {}

const repeat = mapping({
  pathId: pathId(),
  key: nullable(text()),
  fingerprint: nullable(text()),
  /** The number of requests after the first rejection. */
  count: count(),
});
/** How often a key was resent after its rejection. */
export interface ReportedRepeat extends ValueOf<typeof repeat> {}

export const reportShape = mapping({
  ...world,
  /** The merged runs, each with scenario, seed, profile and pinned assumptions; left out for a single run. */
  runs: optional(list(mapping(world))),
  /** The number of the client's requests. */
  requests: count(),
  /** The number of delayed responses that the client did not wait for; only servers count them. */
  unread: count(),
  coverage,
  /** The covered kinds of faults. */
  faults: share(),
  /** The endpoints of the sandbox. */
  endpoints: list(endpoint),
  /** All paths, in the order of the outcomes. */
  paths: list(path),
  /** The advice, the most serious first. */
  advice: list(advice),
  /** The keys that were resent after 401, 403 or 429. */
  repeats: list(repeat),
});
/** The paths that a client has covered, and advice on its behavior. Plain data without keys. */
export interface Report extends ValueOf<typeof reportShape> {}

/**
 * Reads a report as JSON with the spelling of `GET /report`, without control characters; `undefined` for anything else.
 *
 * Keeps unknown members, which a newer sandbox may send.
 */
export function parseReport(json: unknown): Report | undefined {
  // Before 0.3, reports had no endpoints.
  const given = isMapping(json) ? { endpoints: [], ...json } : json;
  const mistakes = mistakesIn(inJsonOfAnyVersion(reportShape), given);
  if (mistakes.some(({ kind }) => kind !== "unknown")) return undefined;
  return redactValue(camelCase(given) as Report, escapeControls);
}
