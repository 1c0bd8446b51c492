import { adviceIds, adviceLevels } from "../spec/advice.js";
import { profiles } from "../spec/assumptions.js";
import { type PathId, pathIdShape } from "../spec/outcomes.js";
import { escapeControls, redactValue } from "../spec/redact.js";
import { mistakesIn } from "../spec/schema/check.js";
import { camelCase, inJsonOfAnyVersion } from "../spec/schema/json.js";
import {
  choice,
  count,
  described,
  flag,
  growingChoice,
  instant,
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

const sandbox = {
  scenario: described(text(), "The name of the scenario."),
  seed: described(count(), "The seed."),
  profile: described(choice(profiles), "The profile."),
  /** The assumptions that the scenario sets differently from the profile, or that the profile would vary. */
  pinned: described(list(text()), "The assumptions that the scenario sets itself."),
};

const coverage = mapping({
  percent: described(count({ max: 100 }), "A whole number, rounded down: 100 means all."),
  met: described(count(), "The number of covered paths."),
  promised: described(count(), "The total number."),
});
/** The covered share of the promised paths. */
export interface Coverage extends ValueOf<typeof coverage> {}

const share = mapping({
  met: described(count(), "The number of covered ones."),
  total: described(count(), "The total number."),
});

const sending = mapping({
  method: described(text(), "Its method."),
  path: described(text(), "Its path with its query."),
  headers: described(record(described(text(), "The value of a header.")), "Its headers."),
  body: described(nullable(text()), "Its body."),
});

const howToMeet = mapping({
  ref: described(text(), "The ref of the key to send; none, malformed or unknown for no key of the sandbox."),
  request: described(sending, "The request, without its key."),
  scenario: described(nullable(text()), "The bundled scenario to start first."),
  reset: described(flag(), "Whether to reset the sandbox first."),
  scopes: optional(
    described(
      list(text()),
      "The scopes to give the key in the scenario first, if no key has the one that the endpoint needs.",
    ),
  ),
  text: described(text(), "The steps as text."),
  curl: described(text(), "The request as a command for a shell with the environment of clients."),
});
/** How to cover a path. */
export interface HowToMeet extends ValueOf<typeof howToMeet> {}

const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;

const path = mapping({
  pathId: described(pathId(), "An outcome of the closed list, or the status and operation id of a success."),
  promised: described(flag(), "Whether the API promises it; the coverage counts only these."),
  met: described(flag(), "Whether it is covered, by a request whose key was not in a wrong place."),
  count: described(count(), "The number of requests that ended there."),
  when: described(text(), "The requests that end there."),
  howToMeet: described(
    orNull(howToMeet),
    "How to cover it; null if it is covered, or if no request leads there for certain.",
  ),
});
/** An outcome of requests. */
export interface ReportedPath extends ValueOf<typeof path> {}

const request = mapping({
  id: described(text(), "The request id."),
  at: described(instant(), "ISO 8601, on the sandbox's clock."),
  method: described(text(), "The method."),
  path: described(text(), "The path, without keys."),
  key: described(nullable(text()), "The ref of the key that the advice is about, if the sandbox has it."),
  fingerprint: described(nullable(text()), "The fingerprint of that key, or of the text in its place."),
  didYouMean: described(nullable(text()), "The nearest method and path, if the API does not have these."),
});
/** A request that caused advice. */
export interface ReportedRequest extends ValueOf<typeof request> {}

const advice = mapping({
  id: described(growingChoice(adviceIds), "The advice."),
  level: described(choice(adviceLevels), "How serious it is."),
  rule: described(text(), "The rules that it is based on."),
  count: described(count(), "The number of requests that caused it."),
  meaning: described(text(), "What happened."),
  whatToDo: described(text(), "What to do."),
  examples: described(list(request), "The first requests, at most five."),
});
/** An advice and the requests that caused it. */
export interface ReportedAdvice extends ValueOf<typeof advice> {}

const endpoint = mapping({
  method: described(text(), "The method."),
  path: described(text(), "The path; a name in braces matches any one segment."),
  operationId: described(text(), "The operation id in the OpenAPI document."),
  release: described(
    choice(["released", "announced"]),
    "announced: only a document has it, and the coverage leaves it out.",
  ),
  requests: described(count(), "The number of requests to it."),
  covered: described(flag(), "Whether some run covered one of its successes."),
});
/** An endpoint and the requests to it. */
export interface ReportedEndpoint extends ValueOf<typeof endpoint> {}

const repeat = mapping({
  pathId: described(pathId(), "The path where the requests ended."),
  key: described(nullable(text()), "The ref of the key, if the sandbox has it."),
  fingerprint: described(nullable(text()), "The fingerprint of the key."),
  count: described(count(), "The number of requests after the first rejection."),
});
/** How often a key was resent after its rejection. */
export interface ReportedRepeat extends ValueOf<typeof repeat> {}

export const reportShape = mapping({
  ...sandbox,
  /** The merged runs, each with scenario, seed, profile and pinned assumptions; left out for a single run. */
  runs: optional(described(list(mapping(sandbox)), "The sandboxes of the runs.")),
  /** The number of the client's requests. */
  requests: described(count(), "The number of requests in all runs."),
  unread: described(count(), "The number of delayed responses that the client did not wait for."),
  coverage: described(coverage, "The promised paths that some run covered."),
  announced: described(share, "The announced endpoints that some run covered."),
  faults: described(share, "The kinds of faults that some run covered."),
  endpoints: described(list(endpoint), "The endpoints of the sandbox."),
  /** All paths, in the order of the outcomes. */
  paths: described(list(path), "Every path."),
  /** The advice, the most serious first. */
  advice: described(list(advice), "Problems in the client's behavior."),
  repeats: described(list(repeat), "The keys that were resent after 401, 403 or 429."),
});
/** The paths that a client has covered, and advice on its behavior. Plain data without keys. */
export interface Report extends ValueOf<typeof reportShape> {}

/** Reads a report as JSON; `undefined` for anything else. Keeps unknown members, which a newer sandbox may send. */
export function parseReport(json: unknown): Report | undefined {
  const mistakes = mistakesIn(inJsonOfAnyVersion(reportShape), json);
  if (mistakes.some(({ kind }) => kind !== "unknown")) return undefined;
  return redactValue(camelCase(json) as Report, escapeControls);
}
